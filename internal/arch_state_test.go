package internal

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// makers give values that nothing changes.
var makers = []string{"errors.New", "fmt.Errorf", "regexp.MustCompile", "sync.OnceValue", "sync.OnceValues",
	"strings.NewReplacer", "strings.Fields",
	"reflect.TypeFor", "time.Date", "base64.StdEncoding.EncodeToString", "json.RawMessage"}

// pools are package-level variables that change, and that nobody can tell from ones that do not.
var pools = map[string]string{}

// variables reports the package-level variables that hold state: those of a kind that is changed in place, and those
// that a function writes. What is left are errors, functions, patterns, embedded files and tables.
func (p *pack) variables(broken func(string, ...any)) {
	const reason = "a package that remembers can't be used twice in a process, nor tested " +
		"beside itself; put it into a value that is passed"
	own := map[string]string{} // the file of each
	for file, f := range p.files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, s := range g.Specs {
				v := s.(*ast.ValueSpec)
				embedded := strings.Contains(text(g.Doc)+text(v.Doc), "//go:embed ")
				for i, name := range v.Names {
					if name.Name == "_" {
						continue
					}
					own[name.Name] = file
					if pools[file+" "+name.Name] != "" {
						continue
					}
					if !embedded && (i >= len(v.Values) ||
						!p.constant(v.Values[i], strings.HasPrefix(strings.ToLower(name.Name), "err"))) {
						broken("%s: the variable %s may change: %s", file, name.Name, reason)
					}
				}
			}
		}
	}
	for file, f := range p.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				for _, name := range written(fn) {
					if own[name] != "" {
						broken("%s: %s writes the variable %s of its package: %s", file, fn.Name.Name, name, reason)
					}
				}
			}
		}
	}
}

func text(c *ast.CommentGroup) (all string) {
	if c != nil {
		for _, line := range c.List {
			all += line.Text + "\n"
		}
	}
	return all
}

// constant says that a value is not of a kind that changes in place. isError lets a pointer to an error be one.
func (p *pack) constant(x ast.Expr, isError bool) bool {
	switch x := x.(type) {
	case *ast.CallExpr:
		return slices.Contains(makers, dotted(x.Fun)) || p.givesTable(dotted(x.Fun))
	case *ast.UnaryExpr:
		return x.Op != token.AND || isError
	case *ast.CompositeLit:
		return !strings.HasPrefix(dotted(x.Type), "sync.") && !strings.HasPrefix(dotted(x.Type), "atomic.")
	}
	return true
}

// givesTable says that a function of the package gives a table or another function.
func (p *pack) givesTable(name string) bool {
	for _, f := range p.files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != name || fn.Type.Results == nil {
				continue
			}
			switch fn.Type.Results.List[0].Type.(type) {
			case *ast.FuncType, *ast.MapType, *ast.ArrayType:
				return true
			}
		}
	}
	return false
}

// written names the variables that a function writes and does not declare.
func written(fn *ast.FuncDecl) (names []string) {
	local := map[string]bool{}
	declare := func(list *ast.FieldList) {
		if list != nil {
			for _, f := range list.List {
				for _, name := range f.Names {
					local[name.Name] = true
				}
			}
		}
	}
	declare(fn.Recv)
	write := func(x ast.Expr) {
		if root := rootOf(x); root != "" {
			names = append(names, root)
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncType:
			declare(n.Params)
			declare(n.Results)
		case *ast.ValueSpec:
			for _, name := range n.Names {
				local[name.Name] = true
			}
		case *ast.RangeStmt:
			for _, x := range []ast.Expr{n.Key, n.Value} {
				if n.Tok == token.DEFINE {
					local[rootOf(x)] = true
				} else {
					write(x)
				}
			}
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				if n.Tok == token.DEFINE {
					local[rootOf(x)] = true
				} else {
					write(x)
				}
			}
		case *ast.IncDecStmt:
			write(n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				write(n.X)
			}
		case *ast.CallExpr:
			if name := dotted(n.Fun); (name == "delete" || name == "clear" || name == "copy") && len(n.Args) > 0 {
				write(n.Args[0])
			}
		}
		return true
	})
	return slices.DeleteFunc(names, func(name string) bool { return local[name] })
}

// rootOf is the variable that an expression is a part of: x for x.a[i].
func rootOf(x ast.Expr) string {
	for {
		switch y := x.(type) {
		case *ast.Ident:
			return y.Name
		case *ast.SelectorExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.StarExpr:
			x = y.X
		case *ast.ParenExpr:
			x = y.X
		default:
			return ""
		}
	}
}
