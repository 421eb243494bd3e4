package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/text"
)

// Setup is how whoever operates the server shows and changes its settings. Its errors are of type *SettingError.
type Setup struct {
	Show func() (Settings, error)
	// Set sets a setting by its words, as ‘sibyl config set’ takes them. It returns the variable that overrides it.
	Set       func(ctx context.Context, name string, words []string, anyway bool) (overridden string, err error)
	Unset     func(name string) error
	SetKey    func(ctx context.Context, name, key string, anyway bool) error
	DeleteKey func(ctx context.Context, name string) error
	// Models lists the models that the changed settings would give.
	Models func(ctx context.Context) (service.Models, error)
	Again  func() // has the server start again, with the changed settings
}

// SettingError says why a setting or key was not changed.
type SettingError struct{ Kind, Text string }

func (e *SettingError) Error() string { return e.Text }

// The kinds of a SettingError, as those of problems.
const (
	SettingUnfit      = "setting_unfit"    // it can't work as things are; it may be kept anyway
	SettingRefused    = "setting_refused"  // it can't be
	SettingOfTerminal = "setting_terminal" // it is set on a terminal alone
)

// Settings are the settings as the file has them, which may be newer than those in force.
type Settings struct {
	File       string    `json:"file" doc:"The settings file of this node."`
	Opened     time.Time `json:"opened" doc:"Since when the settings in force are."`
	Pending    bool      `json:"pending" doc:"The file or the keys have changed since."`
	Failed     string    `json:"failed,omitempty" doc:"Why the settings of the file could not be taken up, in English."`
	Settings   []Setting `json:"settings"`
	Keys       []Key     `json:"keys" doc:"Those that exist. None is shown."`
	KeyNames   []string  `json:"key_names" doc:"Whose keys can be stored."`
	KeyProblem string    `json:"key_problem,omitempty" doc:"Why some stored keys can't be read, in English."`
}

// SettingValue is what a setting is, in one of three forms; none: it is not set.
type SettingValue struct {
	Text  string            `json:"text,omitempty" doc:"Also a number, or true and false."`
	List  []string          `json:"list,omitempty" doc:"Of a setting that takes a list."`
	Names map[string]string `json:"names,omitempty" doc:"Of a setting that takes names with values."`
}

// words returns a value as ‘sibyl config set’ takes it; none for none.
func (v SettingValue) words() []string {
	var whole any
	switch {
	case v.Text != "":
		return []string{v.Text}
	case len(v.List) > 0:
		whole = v.List
	case len(v.Names) > 0:
		whole = v.Names
	default:
		return nil
	}
	text, _ := json.Marshal(whole) // texts alone
	return []string{string(text)}
}

// Setting is one setting.
type Setting struct {
	Name string `json:"name" doc:"Sections and name with dots between."`
	SettingValue
	From    string   `json:"from" enum:"file,environment,default"`
	By      string   `json:"by,omitempty" doc:"The variable that sets it, and comes before the file."`
	Part    string   `json:"part,omitempty" doc:"The part of the set-up that changes it. Left out: it is changed on a terminal alone."`
	Form    string   `json:"form" enum:"line,text,choice,model,list,names"`
	Choices []string `json:"choices" doc:"All that it may be, where that is a few words."`
}

// Key says that a key exists, and never the key.
type Key struct {
	Name string `json:"name"`
	From string `json:"from" enum:"environment,command,keyring,file"`
	By   string `json:"by,omitempty" doc:"The variable, program or file."`
}

// SettingWritten is what a setting is to be.
type SettingWritten struct {
	SettingValue
	Anyway bool `json:"anyway,omitempty" doc:"Also if it can't work as things are now."`
}

// SettingDone is what came of a change.
type SettingDone struct {
	Overridden string `json:"overridden,omitempty" doc:"The environment variable that is set and comes first."`
}

// KeyWritten is a key as it was typed.
type KeyWritten struct {
	Key    string `json:"key" minLength:"1" maxLength:"2048"`
	Anyway bool   `json:"anyway,omitempty" doc:"Also if it looks like another's."`
}

func (s *Server) setupRoutes() {
	if s.config.Setup == nil {
		return
	}
	const tag = "set-up"
	registerForm(s, route{id: "getSettings", at: "GET /api/settings", tag: tag,
		summary: "The settings of this node, and which keys exist", needs: user.Operate},
		func(context.Context, *noInput) (Settings, error) {
			all, err := s.config.Setup.Show()
			return all, settingProblem(err)
		})
	registerForm(s, route{id: "getSettingsModels", at: "GET /api/settings/models", tag: tag,
		summary: "The models that the settings of the file give", needs: user.Operate},
		func(ctx context.Context, _ *noInput) (service.Models, error) {
			all, err := s.config.Setup.Models(ctx)
			return all, settingProblem(err)
		})
	registerForm(s, route{id: "putSetting", at: "PUT /api/settings/{setting}", tag: tag,
		summary: "Change a setting in the file", needs: user.Operate}, s.putSetting)
	register(s, route{id: "deleteSetting", at: "DELETE /api/settings/{setting}", tag: tag,
		summary: "Take a setting, or a provider, out of the file", needs: user.Operate},
		func(_ context.Context, in *struct {
			Setting string `path:"setting" maxLength:"200" doc:"Its name."`
		}) (*struct{}, error) {
			return nil, settingProblem(s.config.Setup.Unset(in.Setting))
		})
	register(s, route{id: "putKey", at: "PUT /api/keys/{key}", tag: tag,
		summary: "Store the key of a provider or search engine; it is never shown again", needs: user.Operate},
		func(ctx context.Context, in *struct {
			Key  string `path:"key" maxLength:"100" doc:"Whose key it is."`
			Body KeyWritten
		}) (*struct{}, error) {
			return nil, settingProblem(s.config.Setup.SetKey(ctx, in.Key, in.Body.Key, in.Body.Anyway))
		})
	register(s, route{id: "deleteKey", at: "DELETE /api/keys/{key}", tag: tag,
		summary: "Delete a stored key", needs: user.Operate},
		func(ctx context.Context, in *struct {
			Key string `path:"key" maxLength:"100" doc:"Whose key it is."`
		}) (*struct{}, error) {
			return nil, settingProblem(s.config.Setup.DeleteKey(ctx, in.Key))
		})
	register(s, route{id: "startAgain", at: "POST /api/settings/apply", tag: tag, status: http.StatusAccepted,
		summary: "Have this node start again with the settings of the file; runs go on after it", needs: user.Operate},
		func(context.Context, *noInput) (*struct{}, error) {
			s.config.Setup.Again()
			return nil, nil
		})
}

func (s *Server) putSetting(ctx context.Context, in *struct {
	Setting string `path:"setting" maxLength:"200" doc:"Its name."`
	Body    SettingWritten
}) (done SettingDone, err error) {
	words := in.Body.words()
	if words == nil {
		return done, badRequest("A setting has a value.", "To take it out of the file, delete it.")
	}
	done.Overridden, err = s.config.Setup.Set(ctx, in.Setting, words, in.Body.Anyway)
	return done, settingProblem(err)
}

// settingProblem is an error of a change as it is answered.
func settingProblem(err error) error {
	e, is := errors.AsType[*SettingError](err)
	if !is {
		return err
	}
	status, hint := http.StatusBadRequest, ""
	switch e.Kind {
	case SettingUnfit:
		status, hint = http.StatusConflict, "Send anyway: true to set it all the same."
	case SettingOfTerminal:
		status = http.StatusConflict
	}
	return newProblem(status, e.Kind, text.Capitalize(e.Text)+".", hint)
}
