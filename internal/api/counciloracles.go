package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/server/user"
	"sibyl/internal/service/assistant"
)

// OracleWritten is the text of an oracle as a person has written it.
type OracleWritten struct {
	Text    string `json:"text" doc:"Markdown. Its first line is the name, such as # Skeptic." maxLength:"65536"`
	Version string `json:"version,omitempty" doc:"Of the file that it replaces."`
}

// OraclePreview is what comes of a text.
type OraclePreview struct {
	persona.Persona
	Prompt string `json:"prompt" doc:"What a model is sent."`
}

// councilOracleRoutes registers the routes by which whoever operates the server writes its oracles, which all users
// ask.
func (s *Server) councilOracleRoutes(tag string) {
	const at = councilPath + "/oracles"
	registerForm(s, route{id: "getCouncilOracleText", at: "GET " + at + "/{oracle}/text", tag: tag,
		summary: "The file of an oracle as it stands"}, s.oracleText)
	registerForm(s, route{id: "previewCouncilOracle", at: "POST " + at + "/preview", tag: tag,
		summary: "What comes of the text of an oracle; nothing is written"}, s.previewOracle)
	register(s, route{id: "addCouncilOracle", at: "POST " + at, tag: tag, status: http.StatusCreated, needs: user.Operate,
		summary: "Write a new oracle into the folder of the server"}, s.addOracle)
	registerForm(s, route{id: "rewriteCouncilOracle", at: "PUT " + at + "/{oracle}", tag: tag, needs: user.Operate,
		summary: "Replace the text of an oracle"}, s.rewriteOracle)
}

func (s *Server) oracleText(ctx context.Context, in *struct {
	Oracle string `path:"oracle" doc:"The id of the oracle."`
}) (persona.Text, error) {
	if _, err := s.readOracles(ctx); err != nil {
		return persona.Text{}, err
	}
	return s.config.Council.Oracles.Text(ctx, in.Oracle)
}

func (s *Server) previewOracle(_ context.Context, in *struct {
	Body struct {
		Text string `json:"text" doc:"As in the request that writes it." maxLength:"65536"`
		Said string `json:"said" doc:"What is to stand for the words of a session." maxLength:"2000"`
	}
}) (OraclePreview, error) {
	p, err := s.config.Council.Oracles.Preview(in.Body.Text)
	if err != nil {
		return OraclePreview{}, oracleProblem(err)
	}
	said := []prompt.Entry{{ID: "t1", Sequence: 1, At: time.Now(), Text: in.Body.Said}}
	context := prompt.Assemble(said, prompt.Options{Language: p.Language})
	return OraclePreview{p, prompt.Compose(p, context.Text)}, nil
}

func (s *Server) addOracle(ctx context.Context, in *withBody[OracleWritten]) (*withLocation[persona.Persona], error) {
	_, _ = s.readOracles(ctx) // for the folders that no answer names; one that is missing is made
	p, err := s.config.Council.Oracles.Add(ctx, in.Body.Text)
	if err != nil {
		return nil, oracleProblem(err)
	}
	return &withLocation[persona.Persona]{councilPath + "/oracles/" + p.ID, p}, nil
}

func (s *Server) rewriteOracle(ctx context.Context, in *struct {
	Oracle string `path:"oracle" doc:"The id of the oracle."`
	Body   OracleWritten
}) (persona.Persona, error) {
	if _, err := s.readOracles(ctx); err != nil {
		return persona.Persona{}, err
	}
	p, err := s.config.Council.Oracles.Rewrite(ctx, in.Oracle, in.Body.Version, in.Body.Text)
	return p, oracleProblem(err)
}

// oracleProblem says what an error of writing an oracle means to who wrote it.
func oracleProblem(err error) error {
	switch {
	case errors.Is(err, persona.ErrBuiltIn):
		return newProblem(http.StatusConflict, "oracles_built_in", "The oracles of this server are built in.",
			"Whoever runs the server sets ORACLES_DIR to a folder of their own.")
	case errors.Is(err, persona.ErrChanged):
		return newProblem(http.StatusConflict, "changed", "The file was changed meanwhile, so nothing was written.",
			"Open it again.")
	case errors.Is(err, persona.ErrText):
		return &assistant.RequestError{Why: bt.Why{Text: err.Error()}}
	}
	return err
}
