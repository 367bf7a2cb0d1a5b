{{/* What every pod has: an account without rights, a file system that it cannot write, and no token
of the cluster, which nothing here calls. Links of Services would be variables that begin with
SKIPLANE_, as those of our programs do. */}}
{{- define "skiplane.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccountName }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "skiplane.container" -}}
image: {{ include "skiplane.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* A volume of one key of a Secret, which only the account of the broker reads: a list of its name,
the Secret, the key, and the name of the file. */}}
{{- define "skiplane.secretVolume" -}}
- name: {{ index . 0 }}
  secret:
    secretName: {{ index . 1 }}
    defaultMode: 0440
    items:
      - {key: {{ index . 2 | quote }}, path: {{ index . 3 }}}
{{- end -}}

{{/* The same of a key of the ConfigMap; the file has the name of the key. */}}
{{- define "skiplane.configVolume" -}}
- name: {{ index . 1 }}
  configMap:
    name: {{ index . 0 }}
    items:
      - {key: {{ index . 1 }}, path: {{ index . 1 }}}
{{- end -}}

{{- define "skiplane.mount" -}}
- {name: {{ . }}, mountPath: /etc/skiplane/{{ . }}, readOnly: true}
{{- end -}}
