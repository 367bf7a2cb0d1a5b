{{/* How a probe asks: `live`, whether the process answers, or `ready`, whether it takes calls. Not
by kubelet's own probe of gRPC, which speaks TLS in the newest versions only. */}}
{{- define "skiplane.probe" -}}
{{- $root := index . 0 -}}
{{- $tls := $root.Values.tls -}}
{{- if eq (include "skiplane.probesCall" $root) "true" -}}
exec:
  command:
    - /usr/bin/skiplane
    - health
    - --broker=127.0.0.1:7070
    - --timeout=4s
    {{- if eq (index . 1) "live" }}
    - --service=liveness
    {{- end }}
    - --tls-ca=/etc/skiplane/probe/ca.crt
    - --tls-cert=/etc/skiplane/probe/tls.crt
    - --tls-key=/etc/skiplane/probe/tls.key
    - --tls-server-name={{ $tls.probe.serverName | default (include "skiplane.host" $root) }}
{{- else -}}
httpGet:
  path: {{ ternary "/healthz" "/readyz" (eq (index . 1) "live") }}
  port: http
  scheme: {{ ternary "HTTPS" "HTTP" (not (empty $tls.secretName)) }}
{{- end }}
timeoutSeconds: 5
{{- end -}}
