// Package docs holds the documents that the program itself uses.
package docs

import _ "embed"

//go:embed inquiry.schema.json
var inquirySchema string

// InquirySchema is the JSON Schema of the session of an inquiry.
func InquirySchema() string { return inquirySchema }
