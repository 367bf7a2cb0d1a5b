"""Files that a broker reads: settings, keys and certificates, tokens, rules."""

import os
import shutil
import subprocess
import tempfile

LIFE_S = 2 * 24 * 3600  # of a certificate, as -days 2


class Folder:
    """Of files that a broker reads; `for_all`: other accounts, such as PostgreSQL's, get there."""

    def __init__(self, for_all=False):
        self._folder = tempfile.TemporaryDirectory(prefix="skiplane-reload-")
        if for_all:
            os.chmod(self._folder.name, 0o755)
        self.remove = self._folder.cleanup

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def make_pair(self, name):
        """A key and a certificate that it signed itself."""
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout",
                        self.path(f"{name}.key"), "-out", self.path(f"{name}.crt")],
                       check=True, capture_output=True)

    def sign(self, name, issuer, *extensions, lasts_s=LIFE_S):
        """A pair whose certificate `issuer` signed, and which lasts that long from now on. It has
        expired if that is below 0."""
        subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-subj", f"/CN={os.path.basename(name)}", "-keyout",
                        self.path(f"{name}.key"), "-out", self.path(f"{name}.csr")],
                       check=True, capture_output=True)
        extensions_file = self.write(f"{name}.ext", "\n".join(extensions))
        subprocess.run(["faketime", "-f", f"-{LIFE_S - lasts_s}s",
                        "openssl", "x509", "-req", "-days", "2", "-CAcreateserial", "-in",
                        self.path(f"{name}.csr"), "-CA", self.path(f"{issuer}.crt"), "-CAkey",
                        self.path(f"{issuer}.key"), "-extfile", extensions_file, "-out",
                        self.path(f"{name}.crt")], check=True, capture_output=True)

    def put_in_place(self, name, other):
        """The other file's content under this name, at once and whole."""
        shutil.copyfile(self.path(other), self.path(f"{name}.new"))
        os.replace(self.path(f"{name}.new"), self.path(name))
