package files

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// What usually holds secrets, by name. All is in lower case; a name is compared as the most forgiving file system
// would: without case, and without the dots, spaces and stream names at its end that some systems drop.
var (
	// Folders of which nothing is read, by what they hold; a name with a slash is one below another.
	closedFolders = map[string]string{
		"version control data": ".git .hg .svn .jj .bzr",
		"keys": ".ssh .gnupg .password-store library/keychains share/keyrings etc/wireguard " +
			".electrum .bitcoin .ethereum .minisign .step",
		"credentials": ".aws .azure .gcloud .config/gcloud .kube .docker .oci .aliyun .bluemix .ibmcloud .config/gh " +
			".config/glab .config/hub .config/doctl .config/op .config/rclone " +
			".config/containers .config/heroku .fly .flyctl .terraform.d .vault .railway .supabase .snowflake " +
			".databricks .pulumi/credentials",
		"what a browser or mail program keeps": ".mozilla .thunderbird .config/google-chrome .config/chromium " +
			".config/bravesoftware .config/microsoft-edge .config/vivaldi",
	}

	// Files by their whole name, backups of them included.
	secretNames = strings.Fields(`
		.netrc _netrc .authinfo .npmrc .pypirc .pgpass pgpass.conf .my.cnf .mylogin.cnf .htpasswd .htdigest
		.git-credentials .gitcookies .dockercfg .dockerconfigjson .vault-token .s3cfg .boto .passwd-s3fs .rclone.conf
		rclone.conf .msmtprc .fetchmailrc
		.ftpconfig .ftppass sftp.json sitemanager.xml recentservers.xml .terraformrc terraform.rc credentials.tfrc.json
		.snowsql .databrickscfg ngrok.yml
		kubeconfig kubeconfig.yaml kubeconfig.yml credentials credentials.db access_tokens.db accesstokens.json
		msal_token_cache.json msal_token_cache.bin azureprofile.json
		auth.json token.json shadow gshadow master.passwd wp-config.php wallet.dat keyring identity .age-key keys.txt
		ipsec.secrets chap-secrets pap-secrets wpa_supplicant.conf vpn.conf wireguard.conf
		cookies cookies.txt cookies.sqlite cookies.sqlite-wal cookies-journal logins.json key3.db key4.db
		signons.sqlite login-data
		.lesshst .viminfo .histfile .zhistory .dbshell fish_history consolehost_history.txt .flaskenv .dev.vars .envrc`)

	// Files by a name that means something in a folder alone.
	secretPlaces = strings.Fields(
		`.m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .bundle/config .cargo/credentials.toml .gem/credentials
		.composer/auth.json .config/hub chrome/cookies`)

	// Keystores, private keys, states of machines and settings of networks, by their ending.
	secretEndings = strings.Fields(
		`.pem .key .p8 .pk8 .p12 .pfx .pkcs12 .jks .jceks .bks .keystore .keytab .kdbx .kdb .psafe3 .1pux .1pif .opvault .agilekeychain .keychain .keychain-db
		.ppk .snk .agekey .ovpn .nmconnection .pcf .tfstate .tfvars .tfvars.json .publishsettings .dockerconfigjson
		.kubeconfig .htpasswd .pgpass`)

	// Data is data by its ending: credentials.json is one, and credentials.go source code.
	dataEndings = strings.Fields(
		".json .yaml .yml .toml .ini .xml .csv .txt .cfg .conf .properties .plist .rc .enc .gpg .db")

	// What the name of a file with secrets says, and what of it says otherwise.
	secretWords = strings.Fields(
		"credentials credential creds secret secrets password passwords passwd " +
			"passphrase adminsdk serviceaccount service-account")
	keyWords     = strings.Fields("key apikey apikeys keyfile serviceaccountkey")
	sealedWords  = strings.Fields("sealed external encrypted public pub")
	exampleWords = strings.Fields("example examples sample template templates tmpl tpl dist defaults schema skeleton")

	// How copies are called, by hand and by programs.
	copyEndings = strings.Fields(
		".bak .backup .back .old .orig .save .saved .swp .swo .swn .tmp .temp .copy .prev .rpmsave .rpmnew .dpkg-old " +
			".dpkg-dist .new .disabled .off ~ -old -bak -backup -copy _old _bak _backup")
)

const usuallySecret = "files of this name usually hold secrets"

// SecretReason says why a file or folder called name, in a folder called parent ("" for an unknown one), is not to be
// read by anybody but the person: "" if it may be. Examples and templates may. A folder may be called credentials: it
// holds source code as often as not.
func SecretReason(parent, name string, folder bool) string {
	parent, name = plainName(parent), plainName(name)
	if why := closedFolderReason(parent, name); why != "" && (folder || strings.HasPrefix(name, ".")) {
		return "it holds " + why
	}
	if folder {
		return ""
	}
	if holdsSecrets(parent, name) {
		return usuallySecret
	}
	for base := originalName(name); base != name; base = originalName(name) {
		// editors put a dot before the name of a copy
		if name = base; holdsSecrets(parent, base) || holdsSecrets(parent, strings.TrimPrefix(base, ".")) {
			return usuallySecret
		}
	}
	return ""
}

// SecretPathReason is SecretReason of the first part of a path with slashes that is closed: a folder or the file.
func SecretPathReason(p string) string {
	parent := ""
	parts := strings.Split(p, "/")
	for i, name := range parts {
		if why := SecretReason(parent, name, i < len(parts)-1); why != "" {
			return why
		}
		parent = name
	}
	return ""
}

// plainName is a name as all file systems compare it.
func plainName(name string) string {
	name = strings.ToLower(name)
	if i := strings.IndexByte(name, ':'); i > 0 {
		name = name[:i]
	}
	return strings.TrimRight(name, " .")
}

// closedFoldersByName are the closed folders by name, with what each holds.
var closedFoldersByName = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for why, names := range closedFolders {
		for name := range strings.FieldsSeq(names) {
			all[name] = why
		}
	}
	return all
})

func closedFolderReason(parent, name string) string {
	if why := closedFoldersByName()[name]; why != "" {
		return why
	}
	return closedFoldersByName()[parent+"/"+name]
}

// originalName is the name of the file that a copy was made of; of no copy it is the name itself.
func originalName(name string) string {
	if bare := strings.Trim(name, "#"); len(bare) == len(name)-2 && bare != "" && name[0] == '#' {
		return bare
	}
	for _, end := range copyEndings {
		if base, is := strings.CutSuffix(name, end); is && base != "" {
			return base
		}
	}
	// .1, .2026-11-22
	if base, number, is := lastCut(name, "."); is && base != "" && number != "" &&
		strings.Trim(number, "0123456789-_") == "" {
		return base
	}
	end := path.Ext(name)
	stem := strings.TrimSuffix(name, end)
	if base, _, is := lastCut(stem, " ("); is && strings.HasSuffix(stem, ")") { // “key (1).pem”
		return base + end
	}
	if base, is := strings.CutSuffix(stem, " copy"); is {
		return base + end
	}
	return name
}

// lastCut is strings.Cut at the last sep.
func lastCut(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// holdsSecrets judges a name that is in lower case and that of no copy.
func holdsSecrets(parent, name string) bool {
	switch {
	case slices.Contains(secretNames, name), slices.Contains(secretPlaces, parent+"/"+name), isHistory(name),
		isSSHKey(name), isWireGuard(name):
		return true
	case isExample(name):
		return false
	case isEnvironment(name):
		return true
	}
	return slices.ContainsFunc(secretEndings, func(end string) bool {
		return strings.HasSuffix(name, end) || strings.Contains(name, ".tfstate.")
	}) || isSecretData(name)
}

// wordsOf are the words of a name: those between its signs.
func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '-' || r == '_' || r == ' ' })
}

func isExample(name string) bool {
	return slices.ContainsFunc(wordsOf(name), func(word string) bool { return slices.Contains(exampleWords, word) })
}

// isEnvironment is .env, .env.local, .env-prod, prod.env and prod.env.local; env.go is source code.
func isEnvironment(name string) bool {
	rest, is := strings.CutPrefix(name, ".env")
	return is && (rest == "" || strings.ContainsAny(rest[:1], ".-_")) || strings.HasSuffix(name, ".env") ||
		strings.Contains(name, ".env.") && !isCode(name)
}

// isHistory is what shells and clients of databases keep of what was typed.
func isHistory(name string) bool {
	return strings.HasPrefix(name, ".") && (strings.HasSuffix(name, "_history") ||
		strings.HasSuffix(name, "-history") || strings.HasSuffix(name, ".history") || name == ".history")
}

// isSSHKey is a private key by its usual name: id_rsa, id_ed25519_work, ssh_host_rsa_key.
func isSSHKey(name string) bool {
	if strings.HasSuffix(name, ".pub") {
		return false
	}
	kind, is := strings.CutPrefix(name, "id_")
	for _, known := range []string{"rsa", "dsa", "ecdsa", "ed25519", "xmss"} {
		if rest, named := strings.CutPrefix(kind, known); is && named &&
			(rest == "" || strings.ContainsAny(rest[:1], "_-.")) && !isCode(name) {
			return true
		}
	}
	return strings.HasPrefix(name, "ssh_host_") && strings.HasSuffix(name, "_key")
}

// isCode is a source that may be called after what it does: id_rsa_test.go.
func isCode(name string) bool {
	return slices.Contains([]string{".go", ".py", ".rs", ".c", ".h", ".java", ".js", ".ts", ".rb", ".php", ".md"},
		path.Ext(name))
}

// isWireGuard is the file of an interface: wg0.conf, wg-home.conf.
func isWireGuard(name string) bool {
	rest, is := strings.CutPrefix(name, "wg")
	return is && strings.HasSuffix(name, ".conf") && strings.ContainsAny(rest[:1], "0123456789-_.")
}

// isSecretData is a file of data whose name says that it holds secrets: gcp-key.json, prod_secrets.yaml,
// client_secret_12.apps.json.
func isSecretData(name string) bool {
	end := path.Ext(name)
	if !slices.Contains(dataEndings, end) {
		return false
	}
	words := wordsOf(strings.TrimSuffix(name, end))
	if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return slices.Contains(sealedWords, w) }) {
		return false
	}
	has := func(of []string) func(string) bool { return func(w string) bool { return slices.Contains(of, w) } }
	switch {
	case slices.ContainsFunc(words, has(secretWords)), strings.Contains(strings.Join(words, "-"), "service-account"):
		return true
	}
	return end != ".yaml" && end != ".yml" && end != ".xml" && end != ".csv" &&
		slices.Contains(keyWords, words[len(words)-1])
}
