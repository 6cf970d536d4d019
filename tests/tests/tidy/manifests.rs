//! The manifests of the packages, read as far as the rules need them.

use super::report;
use super::source::{Source, all, root, rust, words};

/// One `Cargo.toml`, as sections of keys and values.
pub(crate) struct Manifest {
    /// The folder of the package, from the repository's root; empty for the workspace.
    pub(crate) folder: String,
    sections: Vec<(String, Vec<(String, String)>)>,
}

/// All of them, the workspace's first.
pub(crate) fn manifests() -> Vec<Manifest> {
    let mut found: Vec<Manifest> = all()
        .iter()
        .filter(|source| source.path.rsplit('/').next() == Some("Cargo.toml"))
        .map(Manifest::read)
        .collect();
    found.sort_by(|one, other| one.folder.cmp(&other.folder));
    found
}

impl Manifest {
    fn read(source: &Source) -> Self {
        let folder = source.path.strip_suffix("Cargo.toml").expect("its name");
        let mut sections = vec![(String::new(), Vec::new())];
        for line in source.text.lines() {
            let line = line.trim();
            if line.starts_with('[') {
                let name = line.trim_matches(|c| c == '[' || c == ']');
                sections.push((name.to_owned(), Vec::new()));
            } else if let Some((key, value)) = line.split_once('=')
                && !line.starts_with('#')
                && let Some((_, entries)) = sections.last_mut()
            {
                let value = value.trim().trim_matches('"').to_owned();
                entries.push((key.trim().to_owned(), value));
            }
        }
        Self {
            folder: folder.trim_end_matches('/').to_owned(),
            sections,
        }
    }

    /// The entries of every section of this name.
    pub(crate) fn section<'a>(
        &'a self,
        name: &'a str,
    ) -> impl Iterator<Item = &'a (String, String)> {
        self.sections
            .iter()
            .filter(move |(section, _)| section == name)
            .flat_map(|(_, entries)| entries)
    }

    /// The first value of a key.
    pub(crate) fn value<'a>(&'a self, section: &'a str, key: &str) -> Option<&'a str> {
        let mut entries = self.section(section);
        let found = entries.find(|(name, _)| name == key)?;
        Some(found.1.as_str())
    }

    /// The package's name.
    pub(crate) fn name(&self) -> Option<&str> {
        self.value("package", "name")
    }

    fn dependency_entries(&self) -> impl Iterator<Item = &(String, String)> {
        let sections = self
            .sections
            .iter()
            .filter(|(name, _)| name.ends_with("dependencies") && name != "workspace.dependencies");
        sections.flat_map(|(_, entries)| entries)
    }

    /// The names by which its code knows the crates that it depends on.
    fn dependency_keys(&self) -> impl Iterator<Item = &str> {
        self.dependency_entries()
            .filter_map(|(key, _)| key.split('.').next())
    }

    /// The crates that it depends on, under the names that they have at home.
    pub(crate) fn dependencies(&self) -> Vec<String> {
        self.dependency_entries()
            .map(|(key, value)| match value.split_once("package = \"") {
                Some((_, rest)) => rest.split('"').next().unwrap_or_default().to_owned(),
                None => key.split('.').next().unwrap_or_default().to_owned(),
            })
            .collect()
    }
}

/// The names of the packages of this repository.
pub(crate) fn packages() -> Vec<String> {
    let manifests = manifests();
    let names = manifests.iter().filter_map(Manifest::name);
    names.map(ToOwned::to_owned).collect()
}

/// Every external crate that some package depends on.
pub(crate) fn external_dependencies() -> Vec<String> {
    let own = packages();
    let mut found: Vec<String> = manifests()
        .iter()
        .flat_map(Manifest::dependencies)
        .filter(|name| !own.contains(name))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[test]
fn every_package_keeps_to_the_workspace() {
    let mut problems = Vec::new();
    let manifests = manifests();
    let members = manifests[0].value("workspace", "members").unwrap_or("");
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.name().is_some())
    {
        let folder = &manifest.folder;
        if !members.contains(&format!("\"{folder}\"")) {
            problems.push(format!(
                "{folder} is no member: add it to `members` of the workspace"
            ));
        }
        if manifest.value("lints", "workspace") != Some("true") {
            problems.push(format!(
                "{folder}/Cargo.toml: add `[lints]` with `workspace = true`"
            ));
        }
        for key in ["version", "edition", "rust-version", "license", "publish"] {
            if manifest.value("package", &format!("{key}.workspace")) != Some("true") {
                problems.push(format!(
                    "{folder}/Cargo.toml: write `{key}.workspace = true`"
                ));
            }
        }
    }
    report(
        "Packages share one version, edition, compiler and set of lints.",
        &problems,
    );
}

#[test]
fn versions_stand_in_the_workspace_and_nowhere_else() {
    let mut problems = Vec::new();
    let manifests = manifests();
    let own = packages();
    let used: Vec<String> = manifests.iter().flat_map(Manifest::dependencies).collect();
    for (name, _) in manifests[0].section("workspace.dependencies") {
        if !used.contains(name) {
            problems.push(format!(
                "`{name}` is used by no package: take it out of the workspace"
            ));
        }
    }
    for manifest in manifests
        .iter()
        .filter(|manifest| manifest.name().is_some())
    {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (key, value) in manifest.section(section) {
                let inherited = key.ends_with(".workspace") || value.contains("workspace = true");
                let local = own
                    .iter()
                    .any(|name| value.contains(&format!("package = \"{name}\"")));
                if !inherited && !local {
                    problems.push(format!(
                        "{}/Cargo.toml: `{key}` has a version of its own: move it to \
                         `[workspace.dependencies]` and write `{key}.workspace = true`",
                        manifest.folder
                    ));
                }
            }
        }
    }
    report("A dependency has one version for all packages.", &problems);
}

#[test]
fn every_dependency_is_used() {
    let mut problems = Vec::new();
    let sources = rust();
    for manifest in manifests() {
        let folder = format!("{}/", manifest.folder);
        let inside = sources
            .iter()
            .filter(|source| source.path.starts_with(&folder));
        let code: Vec<String> = inside.map(Source::code).collect();
        for key in manifest.dependency_keys() {
            let name = key.replace('-', "_");
            let used = code.iter().any(|code| words(code, &name).next().is_some());
            if !used {
                problems.push(format!(
                    "{folder}Cargo.toml: `{key}` is not used: take it out"
                ));
            }
        }
    }
    report("A package depends on what it uses.", &problems);
}

#[test]
fn the_test_command_can_be_run() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut problems = Vec::new();
    for path in ["test", ".ci/run"] {
        let file = root().join(path);
        let mode = file.metadata().map(|data| data.permissions().mode());
        if !mode.is_ok_and(|mode| mode & 0o111 == 0o111) {
            problems.push(format!("`{path}` is not executable: `chmod +x {path}`"));
        }
    }
    report(
        "There is one test command, and continuous integration runs it.",
        &problems,
    );
}
