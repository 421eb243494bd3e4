package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/problem"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// schemasRef is where a description refers to the schemas in it.
const schemasRef = "#/components/schemas/"

// newAPI makes the API of huma. Huma has settings for the whole process: this function changes none of them, and
// changes answers on their way out instead, so that another API in the process is not affected.
func newAPI(s *Server) huma.API {
	schemas := huma.NewMapRegistry(schemasRef, schemaName)
	// JSON that is passed on as somebody else made it is an object, in that one's form.
	schemas.RegisterTypeAlias(reflect.TypeFor[json.RawMessage](), reflect.TypeFor[map[string]any]())
	schemas.RegisterTypeAlias(reflect.TypeFor[assistant.Notice](), reflect.TypeFor[map[string]any]())
	schemas.RegisterTypeAlias(reflect.TypeFor[session.Session](), reflect.TypeFor[council.Opened]())
	schemas.RegisterTypeAlias(reflect.TypeFor[service.RunAudit](), reflect.TypeFor[RunAudit]())
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{Title: "Sibyl", Version: "1",
			Description: "Assistants that can be trusted, read and run by oneself: " +
				"sessions, runs, and why they did what they did."},
		Components: &huma.Components{
			Schemas: schemas,
			Responses: map[string]*huma.Response{"Problem": {Description: "What is wrong.",
				Headers: map[string]*huma.Param{
					requestID: {Description: "Names the request, as the server's log does.",
						Schema: &huma.Schema{Type: huma.TypeString}},
					"Retry-After": {Description: "When to try again, in seconds, where that is of use: with each 429.",
						Schema: &huma.Schema{Type: huma.TypeInteger}},
				},
				Content: map[string]*huma.MediaType{problemType: {Schema: &huma.Schema{Ref: schemasRef + "Problem"}}}}},
			SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "What ‘sibyl user add NAME’ shows once."},
				"cookie": {Type: "apiKey", In: "cookie", Name: "sibyl_PORT",
					Description: "What a browser gets that signs in; PORT is the server's."},
			},
		},
		Security: []map[string][]string{{"token": {}}, {"cookie": {}}},
	}
	doc.Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: decodeStrictly}
	return huma.NewAPI(huma.Config{
		OpenAPI: doc,
		// the second is of problem+json
		Formats:                      map[string]huma.Format{jsonType: format, "json": format},
		DefaultFormat:                jsonType,
		RejectUnknownQueryParameters: true,
		Transformers: []huma.Transformer{func(ctx huma.Context, _ string, v any) (any, error) {
			if m, ok := v.(*huma.ErrorModel); ok {
				infoOf(ctx.Context()).malformed = true
				return s.humaProblem(ctx.Operation(), m), nil
			}
			return v, nil
		}},
	}, adapter{s})
}

// adapter puts routes into the mux, each behind the checks of its requests.
type adapter struct{ s *Server }

// ServeHTTP implements huma.Adapter.
func (a adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.s.serve(w, r) }

// Handle implements huma.Adapter.
func (a adapter) Handle(op *huma.Operation, handler func(huma.Context)) {
	a.s.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		if p := a.s.checkAccess(w, r, op, neededScope(op)); p != nil {
			refuse(w, p)
			return
		}
		for _, name := range []string{"session", "run", "inquiry"} { // what can't be an id is not looked for
			if id := r.PathValue(name); id != "" && !isID(id) {
				p := problemOf(journal.ErrNotFound)
				if op.Metadata[filesKey] == true {
					p = p.closing()
				}
				refuse(w, p)
				return
			}
		}
		if op.Metadata[wholeKey] == true {
			done, p := a.s.readWhole(r.Context(), infoOf(r.Context()))
			if p != nil {
				refuse(w, p)
				return
			}
			defer done()
		}
		handler(jsonContext{humago.NewContext(op, r, w)})
	})
}

type humaContext huma.Context

// jsonContext is a request as huma sees it: JSON, as readBody has checked, and with the status 400 where huma finds a
// fault in it.
type jsonContext struct{ humaContext }

// Unwrap gives the context of huma.
func (c jsonContext) Unwrap() huma.Context { return c.humaContext }

// SetStatus implements huma.Context.
func (c jsonContext) SetStatus(status int) {
	if status == http.StatusUnprocessableEntity && infoOf(c.Context()).malformed {
		status = http.StatusBadRequest
	}
	c.humaContext.SetStatus(status)
}

// Header implements huma.Context.
func (c jsonContext) Header(name string) string {
	switch name {
	case "Accept":
		return ""
	case "Content-Type":
		return jsonType
	}
	return c.humaContext.Header(name)
}

// The errors of decodeStrictly. They repeat nothing of the body.
var (
	errNoUTF8 = errors.New("it is not valid UTF-8")
	errNoJSON = errors.New("it is not valid JSON")
	errForm   = errors.New("it is not of the form that belongs here")
)

// decodeStrictly decodes JSON. Into a struct it decodes only an object whose names are exactly names of the struct.
func decodeStrictly(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errNoUTF8
	}
	if t := reflect.TypeOf(into).Elem(); t.Kind() == reflect.Struct {
		var given map[string]json.RawMessage
		if json.Unmarshal(data, &given) != nil {
			return errForm
		}
		for name := range given {
			if !slices.ContainsFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
				known, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return known == name
			}) {
				return errForm
			}
		}
		if json.Unmarshal(data, into) != nil {
			return errForm
		}
		return nil
	}
	if json.Unmarshal(data, into) != nil {
		return errNoJSON
	}
	return nil
}

// route is what a route is registered with. The types of its handler describe its input and output.
type route struct {
	id, at       string // at: the method and the path
	summary, tag string
	status       int         // of success; 0: 200, or 204 without a body
	open         bool        // nobody need be known for it
	needs        user.Scope  // empty: by the method
	whole        bool        // its answer holds whole runs
	takesTexts   bool        // texts of documents may be in its body, which may be larger for them
	takesFiles   bool        // it reads its body itself, as it arrives
	content      []mediaType // of success, if it is not JSON of its form
	also         []success   // besides the usual one
}

// success is a further successful answer: with a body of a schema of the description, or without one.
type success struct {
	status        int
	schema, about string
}

// mediaType is a content type with what it holds: a schema of the description, or a text.
type mediaType struct{ name, schema, about string }

// register adds a route. Its body leaves as publicValue makes it, and an error is answered as its problem.
func register[I, O any](s *Server, r route, do func(context.Context, *I) (*O, error)) {
	_, takesBody := reflect.TypeFor[I]().FieldByName("Body")
	method, path, _ := strings.Cut(r.at, " ")
	op := huma.Operation{OperationID: r.id, Method: method, Path: path, Summary: r.summary, Tags: []string{r.tag},
		DefaultStatus: r.status,
		MaxBodyBytes:  -1, BodyReadTimeout: -1, // both were bounded when the body was read
		Responses: r.responses(takesBody), Metadata: map[string]any{scopeKey: r.needs, wholeKey: r.whole,
			filesKey: r.takesFiles, textsKey: r.takesTexts}}
	if r.open {
		op.Security = []map[string][]string{}
	}
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		infoOf(ctx).hasKey = hasKey(in)
		out, err := do(ctx, in)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		if out != nil {
			if body := reflect.ValueOf(out).Elem().FieldByName("Body"); body.IsValid() {
				body.Set(publicValue(body, infoOf(ctx).hideFolders))
			}
		}
		return out, nil
	})
}

// hasKey says whether a request has an Idempotency-Key, and its route takes one.
func hasKey(in any) bool {
	v := reflect.ValueOf(in).Elem()
	field, found := v.Type().FieldByName("Key")
	return found && field.Tag.Get("header") == idempotencyKey && v.FieldByIndex(field.Index).String() != ""
}

// registerForm adds a route whose answer is a body without headers of its own.
func registerForm[I, T any](s *Server, r route, do func(context.Context, *I) (T, error)) {
	register(s, r, func(ctx context.Context, in *I) (*withBody[T], error) {
		body, err := do(ctx, in)
		return &withBody[T]{body}, err
	})
}

// The keys in an operation's metadata: the scope that it needs, whether its answer holds whole runs, whether it reads
// its body itself, and whether texts of documents may be in it.
const scopeKey, wholeKey, filesKey, textsKey = "scope", "whole", "files", "texts"

// isOpen says that a route needs no token.
func isOpen(op *huma.Operation) bool { return op.Security != nil && len(op.Security) == 0 }

// neededScope is the scope that a token needs for a route.
func neededScope(op *huma.Operation) user.Scope {
	if needs, _ := op.Metadata[scopeKey].(user.Scope); needs != "" {
		return needs
	}
	if op.Method == http.MethodGet {
		return user.Read
	}
	return user.Write
}

// responses are the problems of a route, and its success where that is not JSON.
func (r route) responses(takesBody bool) map[string]*huma.Response {
	statuses := []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusServiceUnavailable}
	if takesBody || strings.Contains(r.at, "{") {
		statuses = append(statuses, http.StatusNotFound, http.StatusConflict)
	}
	if takesBody {
		statuses = append(statuses, http.StatusUnprocessableEntity)
	}
	if takesBody || r.takesFiles {
		statuses = append(statuses, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.takesFiles {
		statuses = append(statuses, http.StatusRequestTimeout)
	}
	if !strings.HasPrefix(r.at, http.MethodGet) && r.needs == "" {
		statuses = append(statuses, http.StatusInsufficientStorage)
	}
	all := map[string]*huma.Response{}
	for _, status := range statuses {
		all[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/Problem",
			Description: http.StatusText(status)}
	}
	for _, other := range r.also {
		described := &huma.Response{Description: other.about}
		if other.schema != "" {
			described.Content = map[string]*huma.MediaType{
				jsonType: {Schema: &huma.Schema{Ref: schemasRef + other.schema}}}
		}
		all[strconv.Itoa(other.status)] = described
	}
	if r.content != nil {
		ok := &huma.Response{Description: http.StatusText(http.StatusOK), Content: map[string]*huma.MediaType{}}
		for _, m := range r.content {
			kind, _, _ := strings.Cut(m.name, ";")
			ok.Content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Description: m.about}}
			if m.schema != "" {
				ok.Content[kind].Schema = &huma.Schema{Ref: schemasRef + m.schema}
			}
		}
		all["200"] = ok
	}
	return all
}

// tidyDescription removes what huma adds to a description for itself, and says that lists are never null.
func tidyDescription(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for _, schema := range schemas {
		forbidNull(schema)
	}
}

func forbidNull(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Type == huma.TypeArray {
		s.Nullable = false
	}
	forbidNull(s.Items)
	for _, property := range s.Properties {
		forbidNull(property)
	}
}

// describeOptions adds the schema of the options of each assistant that can be asked over HTTP.
func (s *Server) describeOptions() error {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	options := schemas["Begin"].Properties["options"]
	for _, a := range s.config.Service.Assistants() {
		if a.Options == nil {
			continue
		}
		var described map[string]any
		if err := json.Unmarshal(a.Options.JSON(), &described); err != nil {
			return fmt.Errorf("schema of the options of %s: %w", a.Name, err)
		}
		name := ""
		for part := range strings.SplitSeq(a.Name, ".") {
			name += strings.ToUpper(part[:1]) + part[1:]
		}
		name += "Options"
		schemas[name] = &huma.Schema{Extensions: described}
		own := &huma.Schema{Ref: schemasRef + name}
		setAnyOf(options, append(options.AnyOf, own))
		if a.Name == oracle.Name {
			setAnyOf(schemas["Ask"].Properties["options"], []*huma.Schema{own})
		}
	}
	return nil
}

// optionsSchema registers the schema of a body whose type is declared like options (package schema), under the name of
// its type. With names it has only those members; an exclamation mark says that a member can't be left out.
func optionsSchema[T any](r huma.Registry, only ...string) *huma.Schema {
	t := reflect.TypeFor[T]()
	s := &huma.Schema{}
	if err := json.Unmarshal(schema.Of[T]().JSON(), s); err != nil {
		panic(fmt.Sprintf("%s: %v", t, err)) // the declaration of T alone decides that
	}
	if len(only) > 0 {
		all := s.Properties
		s.Properties, s.Required = map[string]*huma.Schema{}, nil
		for _, name := range only {
			name, required := strings.CutSuffix(name, "!")
			if s.Properties[name] = all[name]; required {
				s.Required = append(s.Required, name)
			}
		}
	}
	s.PrecomputeMessages()
	r.Map()[t.Name()] = s
	return &huma.Schema{Ref: schemasRef + t.Name()}
}

// describeEvents adds what the leaves of the assistants report: the fields of each typed event, the sentences of
// reasons by their codes, and the kinds of effects.
func (s *Server) describeEvents() {
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	fields, kinds, reasons := map[string][]string{}, map[string]bool{}, map[string]string{}
	listed := slices.Concat(run.Reasons(), assistant.Reasons(), assistant.Failures(), service.Reasons(),
		problem.Reasons())
	for _, a := range s.config.Service.Assistants() {
		for _, e := range a.Events {
			fields[e.EventType()] = fieldsOf(reflect.TypeOf(e))
		}
		for kind := range a.Effects {
			kinds[kind] = true
		}
		listed = append(listed, a.Reasons...)
	}
	for _, r := range listed {
		reasons[r.Code()] = r.Template()
	}
	all := []any{}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		all = append(all, kind)
	}
	schemas["Effect"].Properties["kind"].Examples = all
	schemas["Event"].Properties["data"].Extensions = map[string]any{"x-fields-by-type": fields, "x-reasons": reasons}
}

// fieldsOf are the names that the fields of a struct have in JSON.
func fieldsOf(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// setAnyOf lets a value be of any of these schemas, in place of its own. Its assistant checks it.
func setAnyOf(s *huma.Schema, all []*huma.Schema) {
	s.Type, s.AdditionalProperties, s.AnyOf = "", nil, all
}
