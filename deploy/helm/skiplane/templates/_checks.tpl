{{/* What no schema can say: which values belong together. The broker would refuse most of it, too,
but only in the cluster. */}}
{{- define "skiplane.checks" -}}
{{- $v := .Values -}}
{{- if not $v.image.repository -}}
{{- fail "image.repository is empty: no registry has the image, build it and push it to yours" -}}
{{- end -}}
{{- if eq (empty $v.database.secretName) (empty $v.database.uri) -}}
{{- fail "database: exactly one of secretName and uri is needed" -}}
{{- end -}}
{{- if and $v.migration.database.secretName $v.migration.database.uri -}}
{{- fail "migration.database: at most one of secretName and uri" -}}
{{- end -}}
{{- $asks := or $v.tls.clientCa.secretName $v.access.tokens.secretName $v.access.jwt.keys -}}
{{- if not (or $asks $v.access.open) -}}
{{- fail "nobody would have to prove who calls: set access.tokens.secretName, access.jwt or tls.clientCa.secretName, or access.open" -}}
{{- end -}}
{{- if and $asks $v.access.open -}}
{{- fail "access.open says that nobody has to prove who calls, and other values that callers have to" -}}
{{- end -}}
{{- if and $asks (not $v.tls.secretName) -}}
{{- fail "tls.secretName is empty: without TLS callers from other machines cannot prove who they are" -}}
{{- end -}}
{{- if and $v.access.jwt.keys (not (and $v.access.jwt.issuer $v.access.jwt.audience)) -}}
{{- fail "access.jwt.keys needs access.jwt.issuer and access.jwt.audience" -}}
{{- end -}}
{{- if and (eq (include "skiplane.probesCall" .) "true") (not $v.tls.probe.secretName) -}}
{{- fail "tls.probe.secretName is empty: with tls.clientCertificate required, probes need a certificate, too" -}}
{{- end -}}
{{- $ours := include "skiplane.ourSettings" . | fromYaml -}}
{{- range $name, $_ := $v.settings -}}
{{- if hasKey $ours $name -}}
{{- fail (printf "settings.%s: the chart sets it, by a value of its own" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Whether probes go by gRPC with a certificate: kubelet itself has none to show. */}}
{{- define "skiplane.probesCall" -}}
{{- and (not (empty .Values.tls.clientCa.secretName)) (eq .Values.tls.clientCertificate "required") -}}
{{- end -}}
