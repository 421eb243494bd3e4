package probe

import (
	"context"
	"fmt"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/schema"
)

// formBound bounds an answer in a form, in tokens.
const formBound = 1000

// inForm asks for an answer in a form that the server is to keep to; if the form is broken or refused, in one that is
// only described. fits says whether the value is right.
func inForm[T any](
	ctx context.Context, x *tester, name, text string, fits func(value T) bool, earlier ...model.Message,
) (model.Finding, error) {
	form := model.Schema{Name: name, JSON: schema.Answer[T]()}
	req := said("You read what a person writes.\n\n"+form.Instruction(), append(earlier, user(text))...)
	req.Bound, req.Schema = formBound, &form
	f, kept, err := tryForm(ctx, x, req, form, fits)
	if kept || err != nil && failed(err).Result == model.Untried {
		return inThe(model.FormEnforced, f), err
	}
	req.Schema = nil
	if plain, kept, plainErr := tryForm(ctx, x, req, form, fits); kept {
		return inThe(model.FormPlain, plain), plainErr
	}
	return f, err
}

// inThe names the form of a finding that is right.
func inThe(form model.Form, f model.Finding) model.Finding {
	if f.Result == model.Right {
		f.Form = form
	}
	return f
}

// tryForm asks once; kept says that the reply has the form.
func tryForm[T any](
	ctx context.Context, x *tester, req model.Request, form model.Schema, fits func(value T) bool,
) (f model.Finding, kept bool, err error) {
	r, err := x.ask(ctx, req)
	if err != nil {
		return f, false, err
	}
	var value T
	if err := form.Read(r.text, &value); err != nil {
		return wrong("breaks the format: %s", err.Error()), false, nil
	}
	f, err = judged(fits(value), "fills the format wrongly: %s", r.brief())
	return f, true, err
}

// smallForm is a form of one field.
type smallForm struct {
	Day string `json:"day" enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
}

func trySmall(ctx context.Context, x *tester) (model.Finding, error) {
	return inForm(ctx, x, "day", "On which day is this? “Let us meet on Thursday at noon.”", func(f smallForm) bool {
		return f.Day == "thursday"
	})
}

// mediumForm is a form with a list.
type mediumForm struct {
	Tasks []struct {
		Title string `json:"title"`
		Day   string `json:"day"`
	} `json:"tasks" max:"8"`
}

func tryMedium(ctx context.Context, x *tester) (model.Finding, error) {
	return inForm(ctx, x, "tasks", "List the tasks: “Buy milk on Monday, and call Ann on Friday.”",
		func(f mediumForm) bool {
			return len(f.Tasks) == 2 && contains(f.Tasks[0].Title, "milk") && contains(f.Tasks[1].Title, "ann")
		})
}

// largeForm is as large as what the assistants ask for: lists, choices, flags and numbers.
type largeForm struct {
	Language string `json:"language"`
	Kind     string `json:"kind" enum:"decision,question,report,talk"`
	Title    string `json:"title"`
	People   []struct {
		Name string `json:"name"`
		Does string `json:"does"`
	} `json:"people" max:"8"`
	Decisions []struct {
		What       string  `json:"what"`
		Quote      string  `json:"quote"`
		Confidence float64 `json:"confidence" min:"0" max:"1"`
	} `json:"decisions" max:"8"`
	Open    []string `json:"open_questions" max:"8"`
	Urgent  bool     `json:"urgent"`
	Summary string   `json:"summary"`
}

func tryLarge(ctx context.Context, x *tester) (model.Finding, error) {
	return inForm(ctx, x, "minutes", "Fill in the form for this text, with no more than one short sentence in a field: "+
		"“Ann and Ben met on Monday. They decided to move the backup to Tuesday night. Ben writes the script. Who "+
		"pays for the disk is open.”",
		func(f largeForm) bool { return len(f.People) > 1 && len(f.Decisions) > 0 && f.Summary != "" })
}

func contains(text, word string) bool { return strings.Contains(strings.ToLower(text), word) }

// intentForm is what a message wants.
type intentForm struct {
	Intent string `json:"intent" enum:"create,list,complete,delete,talk"`
	Title  string `json:"title"`
}

// tryIntents asks what five messages in as many languages want; one may be misread.
func tryIntents(ctx context.Context, x *tester) (model.Finding, error) {
	const atLeast = 4
	messages := []struct{ language, text, intent string }{
		{"English", "add milk to my list", "create"},
		{"German", "Was steht noch auf meiner Liste?", "list"},
		{"Portuguese", "apaga a tarefa de comprar pão", "delete"},
		{"French", "j'ai fini le rapport", "complete"},
		{"Spanish", "gracias, eres muy amable", "talk"},
	}
	examples := []model.Message{user("remind me to water the plants"),
		{Role: model.Assistant, Text: `{"intent":"create","title":"water the plants"}`}, user("show me all tasks"),
		{Role: model.Assistant, Text: `{"intent":"list","title":""}`}, user("I have paid the rent"),
		{Role: model.Assistant, Text: `{"intent":"complete","title":"the rent"}`}, user("remove the call with Tom"),
		{Role: model.Assistant, Text: `{"intent":"delete","title":"the call with Tom"}`}, user("good morning"),
		{Role: model.Assistant, Text: `{"intent":"talk","title":""}`}}
	var misread []string
	for _, m := range messages {
		f, err := inForm(ctx, x, "intent", m.text, func(f intentForm) bool { return f.Intent == m.intent },
			examples...)
		if err != nil {
			return f, err
		}
		if f.Result != model.Right {
			misread = append(misread, m.language)
		}
	}
	known := len(messages) - len(misread)
	f, err := judged(known >= atLeast, "%d of %d are read rightly", known, len(messages))
	if len(misread) > 0 {
		f.Reason = fmt.Sprintf("%d of %d; not %s", known, len(messages), strings.Join(misread, ", "))
	}
	return f, err
}
