{{/* The files of a broker that not every one has. A folder each: what is mounted as a single file
would not change when its Secret does. */}}
{{- define "skiplane.brokerMounts" -}}
{{- $v := .Values -}}
{{- if $v.tls.secretName }}
{{ include "skiplane.mount" "tls" }}
{{- end }}
{{- if $v.tls.clientCa.secretName }}
{{ include "skiplane.mount" "client-ca" }}
{{- end }}
{{- if eq (include "skiplane.probesCall" .) "true" }}
{{ include "skiplane.mount" "probe" }}
{{- end }}
{{- if $v.access.tokens.secretName }}
{{ include "skiplane.mount" "tokens" }}
{{- end }}
{{- if $v.access.jwt.keys }}
{{ include "skiplane.mount" "jwt-keys" }}
{{- end }}
{{- if $v.access.rules }}
{{ include "skiplane.mount" "rules" }}
{{- end }}
{{- with $v.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "skiplane.brokerVolumes" -}}
{{- $v := .Values -}}
{{- $name := include "skiplane.name" . -}}
{{- if $v.tls.secretName }}
- name: tls
  secret: {secretName: {{ $v.tls.secretName }}, defaultMode: 0440}
{{- end }}
{{- with $v.tls.clientCa }}
{{- if .secretName }}
{{ include "skiplane.secretVolume" (list "client-ca" .secretName .key "ca.crt") }}
{{- end }}
{{- end }}
{{- if eq (include "skiplane.probesCall" .) "true" }}
- name: probe
  secret: {secretName: {{ $v.tls.probe.secretName }}, defaultMode: 0440}
{{- end }}
{{- with $v.access.tokens }}
{{- if .secretName }}
{{ include "skiplane.secretVolume" (list "tokens" .secretName .secretKey "tokens") }}
{{- end }}
{{- end }}
{{- if $v.access.jwt.keys }}
{{ include "skiplane.configVolume" (list $name "jwt-keys") }}
{{- end }}
{{- if $v.access.rules }}
{{ include "skiplane.configVolume" (list $name "rules") }}
{{- end }}
{{- with $v.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}
