package model

// Refusals are what an endpoint has refused of the schemas that it was sent for a model.
type Refusals struct {
	Bounds  bool     `json:"bounds,omitempty"`   // of values: they are sent with fewer
	NoTools bool     `json:"no_tools,omitempty"` // none are taken for the model
	Tools   []string `json:"tools,omitempty"`    // by their names
	Formats []string `json:"formats,omitempty"`  // by the names of their schemas
}
