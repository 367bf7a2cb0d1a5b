{{/* The flags of the broker that other values of the chart decide, as YAML. */}}
{{- define "skiplane.ourSettings" -}}
{{- $v := .Values -}}
{{- $host := include "skiplane.host" . -}}
{{- $name := include "skiplane.name" . -}}
listen: 0.0.0.0:7070
http-listen: 0.0.0.0:7080
metrics-listen: 0.0.0.0:9464
{{- $all := printf "%s-brokers.%s.svc" $name .Release.Namespace }}
http-host: {{ concat (list $name (printf "%s.%s" $name .Release.Namespace) $host (printf "%s.%s" $host $v.clusterDomain) $all (printf "%s.%s" $all $v.clusterDomain)) $v.httpHosts | join "," }}
database-file: /etc/skiplane/database/uri
drain-timeout: {{ $v.drain.timeoutSeconds }}s
log-level: {{ $v.logLevel }}
log-format: json
dashboard: {{ $v.dashboard }}
{{- if $v.migration.enabled }}
no-migrate: true
{{- end }}
{{- if $v.tls.secretName }}
tls-cert: /etc/skiplane/tls/tls.crt
tls-key: /etc/skiplane/tls/tls.key
{{- end }}
{{- if $v.tls.clientCa.secretName }}
tls-client-ca: /etc/skiplane/client-ca/ca.crt
tls-client-certificate: {{ $v.tls.clientCertificate }}
{{- end }}
{{- if $v.access.tokens.secretName }}
token-file: /etc/skiplane/tokens/tokens
{{- end }}
{{- with $v.access.jwt }}
{{- if .keys }}
jwt-keys: /etc/skiplane/jwt-keys/jwt-keys
jwt-issuer: {{ .issuer }}
jwt-audience: {{ .audience }}
{{- end }}
{{- end }}
{{- if $v.access.rules }}
rules-file: /etc/skiplane/rules/rules
{{- end }}
{{- if $v.access.open }}
open-access: true
{{- end }}
{{- end -}}

{{/* All flags, as skiplaned reads them. YAML's numbers are floating, and 1e+06 is no number for it. */}}
{{- define "skiplane.conf" -}}
{{- range $name, $value := merge (include "skiplane.ourSettings" . | fromYaml) .Values.settings }}
{{ $name }} = {{ if kindIs "float64" $value }}{{ int64 $value }}{{ else }}{{ $value }}{{ end }}
{{- end }}
{{- end -}}
