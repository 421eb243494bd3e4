package record

import "sibyl/docs"

// Schema is the JSON Schema of a session (draft-07): docs/inquiry.schema.json.
func Schema() []byte { return []byte(docs.InquirySchema()) }
