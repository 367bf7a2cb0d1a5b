"""The API's Python modules, generated once per run into a temporary directory. Import this first:
it puts them on the path, also of the programs that the test starts."""

import atexit
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__)))))
PROTO = os.path.join(ROOT, "proto")
VARIABLE = "SKIPLANE_TEST_STUBS"


def generate(folder):
    files = glob.glob(os.path.join(PROTO, "**", "*.proto"), recursive=True)
    # Not grpc_tools, whose protoc on Debian is older than some options of ours.
    plugin = shutil.which("grpc_python_plugin")
    subprocess.run(["protoc", f"-I{PROTO}", f"--plugin=protoc-gen-grpc={plugin}",
                    f"--python_out={folder}", f"--grpc_out={folder}", *files], check=True)


def install():
    folder = os.environ.get(VARIABLE)
    if folder is None:
        place = tempfile.TemporaryDirectory(prefix="skiplane-stubs-")
        atexit.register(place.cleanup)
        folder = place.name
        generate(folder)
        os.environ[VARIABLE] = folder
    sys.path.insert(0, folder)
    import google  # pylint: disable=import-outside-toplevel
    google.__path__.append(os.path.join(folder, "google"))
    return folder


FOLDER = install()
