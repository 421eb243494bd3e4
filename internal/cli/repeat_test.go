package cli

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestCommandThatIsPrintedHasTheFlagsOfThisOneAndNoPassword(t *testing.T) {
	const text = "‘sibyl doctor’ says what is wrong with sibyl"
	for _, c := range []struct {
		given command
		want  string
	}{
		{command{user: "local"}, text},
		{command{user: "local", configPath: "/my files/c.yaml"},
			"‘sibyl --config '/my files/c.yaml' doctor’ says what is wrong with sibyl"},
		{command{user: "ada", database: "sqlite:x.db"},
			"‘sibyl --database sqlite:x.db --user ada doctor’ says what is wrong with sibyl"},
		{command{user: "local", database: "postgres://me:s3cret@db/sibyl"}, text},
		{command{user: "local", database: "postgres://me@db/sibyl?password=s3cret"}, text},
	} {
		assert.Equal(t, c.given.repeatFlags(text), c.want)
	}
}
