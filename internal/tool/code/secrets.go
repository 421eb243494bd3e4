package code

import (
	"path"
	"slices"
	"strings"
)

// Names are compared as the most forgiving file system would: without case, and without the dots, spaces and stream
// names at the end that some systems drop.
var (
	closedFolders = map[string]string{
		".git": "version control data", ".hg": "version control data", ".svn": "version control data",
		".jj": "version control data", ".ssh": "it holds keys", ".gnupg": "it holds keys", ".aws": "it holds credentials",
	}
	secretNames = []string{
		".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".htpasswd", ".git-credentials", ".dockercfg",
		".dockerconfigjson", ".vault-token", ".my.cnf", "credentials", "kubeconfig", "id_rsa", "id_dsa", "id_ecdsa",
		"id_ed25519", "id_ed25519_sk", "id_ecdsa_sk",
	}
	secretEndings = []string{
		".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".ppk", ".tfstate", ".tfstate.backup", ".tfvars",
	}
	// A name like credentials.go is source code; the same name with a data ending is not.
	secretStems   = []string{"credentials", "credential", "secrets", "secret", "service-account", "service_account"}
	dataEndings   = []string{".json", ".yaml", ".yml", ".toml", ".ini", ".xml", ".csv", ".txt", ".cfg", ".conf", ".properties"}
	exampleMarker = []string{"example", "sample", "template", "dist", "defaults"}
)

// secretReason says why a file or folder of that name is never opened; "" if it may be. A folder may be called
// credentials: it holds source code as often as not.
func secretReason(name string, folder bool) string {
	low := strings.ToLower(name)
	if i := strings.IndexByte(low, ':'); i > 0 {
		low = low[:i]
	}
	low = strings.TrimRight(low, " .")
	if why, ok := closedFolders[low]; ok {
		return why
	}
	if folder {
		return ""
	}
	ext := path.Ext(low)
	switch {
	case slices.Contains(secretNames, low),
		slices.ContainsFunc(secretEndings, func(end string) bool { return strings.HasSuffix(low, end) }),
		slices.Contains(dataEndings, ext) && hasSecretStem(strings.TrimSuffix(low, ext)),
		strings.HasPrefix(low, ".env.") && !slices.Contains(exampleMarker, strings.TrimPrefix(ext, ".")):
		return "files of this name usually hold secrets"
	}
	return ""
}

// hasSecretStem also finds secrets-prod and credentials.local.
func hasSecretStem(stem string) bool {
	return slices.ContainsFunc(secretStems, func(s string) bool {
		rest, ok := strings.CutPrefix(stem, s)
		return ok && (rest == "" || strings.ContainsAny(rest[:1], "-_."))
	})
}
