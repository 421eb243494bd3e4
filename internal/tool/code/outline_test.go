package code

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

func outlined(path, text string) []string {
	var got []string
	for _, d := range outline(newSource(path, padded(text))) {
		got = append(got, fmt.Sprintf("%s %s %d,%d-%d", d.kind, d.symbol(), d.doc, d.line, d.end))
	}
	return got
}

func TestOutlineFindsDefinitions(t *testing.T) {
	for _, c := range []struct {
		path, text string
		want       []string
	}{
		{"a.go", `// Package a does.
package a

import "fmt"

// Max is.
const Max = 1

const (
	// One is.
	One = iota
	Two
)

// T is.
type T[K any] struct {
	// Name is.
	Name, Other string
	fmt.Stringer
}

type I interface{ Do() }

// Do does.
func (t *T[K]) Do() {
}

var x = 1

func f() { x++ }
`, []string{"package a 1,2-2", "const Max 6,7-7", "const group One 9,9-13", "const One 10,11-11", "const Two 12,12-12",
			"type T 15,16-20",
			"field T.Name 17,18-18", "field T.Other 17,18-18", "type I 22,22-22", "method I.Do 22,22-22",
			"method T.Do 24,25-26", "var x 28,28-28", "func f 30,30-30"}},
		{"line.go", "package a\n\n//line other.y:100\nfunc f() {\n}\n", []string{"func f 3,4-5"}},
		{"broken.go", "package a\n\nfunc f() {\n\tif {\n}\n\nfunc g() {\n}\n", []string{"func f 3,3-8"}},
		{"not.go", "func f() {\n}\n", []string{"func f 1,1-2"}},
		{"a.py", `# setup
@decorated
class Pool(Base):
    """Doc."""

    MAX = 3

    async def close(self):
        if x:
            pass

    def open(self):
        pass

LIMIT = 10

def main():
    pass
`, []string{"class Pool 1,3-13", "func Pool.close 8,8-10", "func Pool.open 12,12-13", "const LIMIT 15,15-15",
			"func main 17,17-18"}},
		{"a.ts", `/** Doc. */
export default class Pool<T> extends Base {
  private async close(id: string): Promise<void> {
    if (id) {
      return
    }
  }
}

export const load = async (x: number) => {
  return x
}
export function* walk() {
}
type Id = string
interface Shape { a: number }
const plain = 3
`, []string{"class Pool 1,2-8", "method Pool.close 3,3-7", "func load 10,10-12", "func walk 13,13-14",
			"type Id 15,15-15", "class Shape 16,16-16", "const plain 17,17-17"}},
		{"a.rs", `/// Doc.
#[derive(Debug)]
pub struct Pool<T> {
    idle: Vec<T>,
}

impl<T: Clone> Drop for Pool<T> {
    pub(crate) async fn close(&mut self) -> bool {
        true
    }
}
macro_rules! vec { () => {} }
pub const MAX: u8 = 1;
`, []string{"type Pool 1,3-5", "impl Pool 7,7-11", "func Pool.close 8,8-10", "macro vec 12,12-12",
			"const MAX 13,13-13"}},
		{"A.java", `/** Doc. */
public final class Pool {
    private static final int MAX = 3;

    @Override
    protected static List<Conn> close(int id) throws Exception {
        if (id > 0) {
            return helper(id);
        } else if (id < 0) {
        }
    }

    Pool(int x) {
    }
}
`, []string{"class Pool 1,2-15", "method Pool.close 5,6-11"}},
		{"a.c", `#define MAX 3
/* Doc. */
static int
helper(void);

struct pool {
	int idle;
};

typedef unsigned long word;

int pool_close(struct pool *p)
{
	if (p) {
		return helper();
	}
	return 0;
}
`, []string{"macro MAX 1,1-1", "type pool 6,6-8", "type word 10,10-10", "func pool_close 12,12-18"}},
		{"a.cc", "void Pool::close(int id) {\n  run();\n}\n\nnamespace x {\nclass Y {\n};\n}\n",
			[]string{"func Pool::close 1,1-3", "type x 5,5-5", "type Y 6,6-7"}},
		{"a.rb", "module M\n  class Pool < Base\n    # Doc.\n    def close!\n    end\n  end\nend\n",
			[]string{"module M 1,1-7", "class M.Pool 2,2-6", "func Pool.close! 3,4-5"}},
		{"run", "#!/usr/bin/env bash\n\n# Doc.\nclose_pool() {\n  echo\n}\nfunction other {\n}\n",
			[]string{"func close_pool 3,4-6", "func other 7,7-8"}},
		{"a.md", "# Top #\ntext\n## Part\n```\n# code\n```\n## Next\nend\n# Second\n", []string{
			"section Top 1,1-8", "section Part 3,3-6", "section Next 7,7-8", "section Second 9,9-9"}},
		{"a.kt", "class Pool {\n    suspend fun close() {\n    }\n}\n",
			[]string{"class Pool 1,1-4", "func Pool.close 2,2-3"}},
		{"a.sql", "CREATE TABLE IF NOT EXISTS tasks (\n  id int\n);\n", []string{"table tasks 1,1-3"}},
		{"a.proto", "message Task {\n  string id = 1;\n}\n", []string{"type Task 1,1-3"}},
		{"Makefile", "build: all\n\tgo build\nX := 1\n", []string{"target build 1,1-2"}},
		{"a.s", "// Doc.\nTEXT runtime·memmove(SB), NOSPLIT, $0\n\tRET\n", []string{"func memmove 1,2-3"}},
		{"notes.txt", "def x():\n", nil},
	} {
		assert.NoDiff(t, cmp.Diff(c.want, outlined(c.path, c.text)), "%s", c.path)
	}
}

func TestOutlineOfHostileFilesEnds(t *testing.T) {
	for name, text := range map[string]string{
		"flat.md":    strings.Repeat("# a\n", 200_000),
		"deep.md":    strings.Repeat("###### a\n", 100_000),
		"flat.py":    strings.Repeat("def a():\n", 50_000),
		"comment.py": strings.Repeat("# a\n", 200_000) + "def a():\n",
		"long.js":    "function a" + strings.Repeat("(", 1<<20),
		"nest.go":    "package a\nvar x = " + strings.Repeat("[]", 1<<19),
		"blank.rb":   "def a\n" + strings.Repeat("\n", 500_000),
	} {
		defs := outline(newSource(name, padded(text)))
		assert.That(t, name == "long.js" || name == "nest.go" || len(defs) != 0, "%s: nothing found", name)
	}
}

func TestOutlineStaysWithinAnyFile(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"func ", "type ", "const (", "package a", "class A", "def f(", ") {", "{", "}", "end", "# x", "```", "//line 9",
		"/*", "*/", "`", "\"",
		"\n", "\n", "\n", "\t", "    ", "\r\n", "\xff", "interface { ", "struct { ", "int", "x", "=", "TEXT ·f(SB)",
		"[", "]",
	})
	ending := rapid.SampledFrom([]string{".go", ".py", ".ts", ".rs", ".java", ".c", ".rb", ".sh", ".md", ".s", ".toml"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "text"), "")
		s := newSource("f"+ending.Draw(t, "ending"), padded(text))
		for _, d := range outline(s) {
			assert.Require(t, d.doc >= 1 && d.doc <= d.line && d.line <= d.end && d.end <= len(s.lines),
				"%s in %q: %+v, %d lines", s.path, text, d, len(s.lines))
		}
	})
}
