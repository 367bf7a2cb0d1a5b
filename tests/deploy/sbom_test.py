"""What deploy/sbom says of the programs is complete, and allows to give them to others."""

import json
import os
import re
import subprocess
import sysconfig
import unittest

BUILD = os.environ["SKIPLANE_BUILD_DIR"]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SBOM = os.path.join(ROOT, "deploy", "sbom")
PROGRAMS = [os.path.join(BUILD, name) for name in (
    "server/skiplaned", "client/cli/skiplane", "client/examples/demo/skiplane-demo")]
PACKAGE_FIELDS = {"SPDXID", "name", "versionInfo", "supplier", "downloadLocation", "filesAnalyzed",
                  "licenseConcluded", "licenseDeclared", "copyrightText"}
FOLDERS = [f"{top}/{sysconfig.get_config_var('MULTIARCH')}/" for top in ("/lib", "/usr/lib")]
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \|", re.MULTILINE)


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def asks_for_our_source(licence):
    """Whether it is of the GPL, in all of its alternatives, without an exception."""
    return all(any(re.match(r"(LicenseRef-)?A?GPL", part) and " WITH " not in part
                   and "exception" not in part.lower()
                   for part in choice.strip("( )").split(" AND "))
               for choice in licence.split(" OR "))


def needed(program):
    """The libraries that it names itself, and the Debian packages that have each."""
    text = subprocess.run(["readelf", "-dW", program], check=True, capture_output=True,
                          text=True).stdout
    libraries = {name: set() for name in re.findall(r"\(NEEDED\).*\[(.+)\]", text)}
    found = subprocess.run(["dpkg-query", "-S", *(folder + name for folder in FOLDERS
                                                  for name in libraries)],
                           check=False, capture_output=True, text=True).stdout
    for package, path in re.findall(r"(?m)^([^\s:]+)(?::\S+)?: (/.*)$", found):
        libraries[os.path.basename(path)].add(package)
    return libraries


def direct_packages():
    """Those of deploy/packages that a program consists of, or needs to run."""
    section, names = "", set()
    for line in read("deploy", "packages").splitlines():
        name = line.partition("#")[0].split()[:1]
        if line.startswith("["):
            section = line.split()[0]
        elif name and (section == "[run]" or section == "[build]" and name[0].endswith("-dev")):
            names.add(name[0])
    return names


class Sbom(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        made = subprocess.run([SBOM, *PROGRAMS], check=True, capture_output=True, text=True,
                              env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        cls.document = json.loads(made.stdout)
        cls.packages = {package["SPDXID"]: package for package in cls.document["packages"]}

    def linked(self, program, kind="DYNAMIC_LINK"):
        """The packages that it has this relationship to."""
        return [self.packages[entry["relatedSpdxElement"]]
                for entry in self.document["relationships"]
                if (entry["spdxElementId"], entry["relationshipType"]) == (program, kind)]

    def test_the_document_says_what_it_is(self):
        self.assertEqual(self.document["spdxVersion"], "SPDX-2.3")
        self.assertEqual(self.document["dataLicense"], "CC0-1.0")
        self.assertEqual(self.document["SPDXID"], "SPDXRef-DOCUMENT")
        self.assertRegex(self.document["name"], r"^skiplane-\d+\.\d+\.\d+$")
        self.assertRegex(self.document["documentNamespace"], r"^https://[^#]+$")
        self.assertEqual(self.document["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        self.assertRegex(self.document["creationInfo"]["creators"][0], r"^Tool: \S+$")

    def test_each_package_has_what_spdx_asks_for(self):
        self.assertEqual(len(self.packages), len(self.document["packages"]))
        own = {entry["licenseId"] for entry in self.document["hasExtractedLicensingInfos"]}
        for package in self.packages.values():
            with self.subTest(package["name"]):
                self.assertRegex(package["SPDXID"], r"^SPDXRef-[A-Za-z0-9.-]+$")
                self.assertLessEqual(PACKAGE_FIELDS, package.keys())
                self.assertNotEqual(package["versionInfo"], "NOASSERTION")
                for field in ("licenseConcluded", "licenseDeclared"):
                    self.assertRegex(package[field], r"^[\w.+-]+( (AND|OR|WITH) [\w.+-]+)*$")
                    self.assertLessEqual(set(re.findall(r"LicenseRef-[\w.-]+", package[field])),
                                         own)

    def test_relationships_are_between_what_it_lists(self):
        known = self.packages.keys() | {"SPDXRef-DOCUMENT"}
        for entry in self.document["relationships"]:
            self.assertLessEqual({entry["spdxElementId"], entry["relatedSpdxElement"]}, known)
        described = self.linked("SPDXRef-DOCUMENT", "DESCRIBES")
        self.assertEqual([package["name"] for package in described], ["skiplane"])

    def test_each_library_that_a_program_needs_is_in_it(self):
        for program in PROGRAMS:
            names = {package["name"]
                     for package in self.linked(f"SPDXRef-program-{os.path.basename(program)}")}
            libraries = needed(program)
            self.assertIn("libgrpc++.so.1.51", libraries)
            for library, packages in libraries.items():
                self.assertTrue(packages & names, f"{program} needs {library} of {packages}")

    def test_no_licence_asks_for_our_source(self):
        unknown = []
        for package in self.packages.values():
            licence = package["licenseConcluded"]
            self.assertFalse(asks_for_our_source(licence), f"{package['name']}: {licence}")
            if licence == "NOASSERTION":
                unknown.append(package["name"])
        if unknown:
            self.skipTest(f"read the licences of {unknown}, and add them to deploy/licenses")

    def test_a_licence_that_asks_for_our_source_is_found(self):
        for licence in ("GPL-2.0-only", "AGPL-3.0-or-later", "MIT AND GPL-3.0-or-later",
                        "GPL-2.0-only OR AGPL-3.0-only", "LicenseRef-GPL"):
            self.assertTrue(asks_for_our_source(licence), licence)
        for licence in ("LGPL-2.1-or-later", "GPL-2.0-or-later OR LGPL-3.0-or-later", "MIT",
                        "GPL-3.0-or-later WITH GCC-exception-3.1"):
            self.assertFalse(asks_for_our_source(licence), licence)

    def test_the_document_for_people_lists_the_direct_ones(self):
        rows = dict(ROW.findall(read("docs", "LICENSES.md")))
        self.assertEqual(rows.keys(), direct_packages())
        concluded = {package["name"]: package["licenseConcluded"]
                     for package in self.linked("SPDXRef-skiplane", "STATIC_LINK")}
        # The package of that name is empty: it stands for Debian's newest Boost.
        concluded["libboost-dev"] = next(licence for name, licence in concluded.items()
                                         if name.startswith("libboost"))
        for name in rows.keys() & concluded.keys():
            self.assertEqual(rows[name], concluded[name].removeprefix("LicenseRef-"), name)
        self.assertGreater(len(rows.keys() & concluded.keys()), 10)

    def test_what_is_no_program_is_refused(self):
        done = subprocess.run([SBOM, os.path.join(ROOT, "LICENSE")], check=False,
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("does not find its libraries", done.stderr)


if __name__ == "__main__":
    unittest.main()
