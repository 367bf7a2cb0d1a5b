"""Values for the chart: of brokers that may be run, and of one that has everything."""

IMAGE = {"image": {"repository": "registry.example/skiplane"}}
SECRET = "hunter2"
URI = f"postgresql://skiplane:{SECRET}@db.example/skiplane"

OPEN = {**IMAGE, "database": {"uri": URI}, "access": {"open": True}}
TOKENS = {
    **IMAGE,
    "database": {"secretName": "the-database", "secretKey": "address"},
    "tls": {"secretName": "the-certificate"},
    "access": {"tokens": {"secretName": "the-tokens"},
               "rules": "allow token:shop to enqueue, admin on orders-*\n"},
    "dashboard": True,
    "settings": {"auto-create-queues": True, "max-connections": 1000000},
}
CERTIFICATES = {
    **IMAGE,
    "database": {"secretName": "the-database", "secretKey": "address"},
    "tls": {"secretName": "the-certificate", "clientCa": {"secretName": "the-authority"},
            "probe": {"secretName": "the-probe"}},
}
EVERYTHING = {
    "image": {"digest": "sha256:" + "a" * 64, "pullSecrets": ["the-registry"]},
    "database": {"secretName": "", "uri": URI},
    "migration": {"database": {"uri": URI.replace("skiplane:", "owner:")}},
    "tls": {"clientCa": {"secretName": "the-authority"}, "clientCertificate": "optional"},
    "access": {"jwt": {"keys": "-----BEGIN PUBLIC KEY-----\n", "issuer": "https://id.example",
                       "audience": "skiplane"}},
    "httpHosts": ["queue.example"],
    "service": {"type": "LoadBalancer", "annotations": {"one": "1"}},
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone",
                                   "whenUnsatisfiable": "DoNotSchedule"}],
    "affinity": {"podAntiAffinity": {}},
    "nodeSelector": {"disk": "none"},
    "tolerations": [{"operator": "Exists"}],
    "priorityClassName": "high",
    "serviceAccountName": "brokers",
    "podAnnotations": {"two": "2"},
    "podLabels": {"three": "3"},
    "extraVolumes": [{"name": "authority", "secret": {"secretName": "the-servers"}}],
    "extraVolumeMounts": [{"name": "authority", "mountPath": "/etc/skiplane/authority"}],
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
    "grafanaDashboards": {"enabled": True},
    "networkPolicy": {"enabled": True, "callers": [{"podSelector": {}}],
                      "scrapers": [{"namespaceSelector": {}}]},
}
