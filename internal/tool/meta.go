package tool

// What a request to our own MCP server can say in its _meta, and a question of that server.
const (
	MetaKey      = "sibyl/key"      // a text: the idempotency key of a write
	MetaVersion  = "sibyl/version"  // a number: the version of what is named, as the caller saw it
	MetaLook     = "sibyl/look"     // true: nothing is done; what was done under the key is given
	MetaConfirms = "sibyl/confirms" // of a question to a person: the Subject that a yes would confirm
)
