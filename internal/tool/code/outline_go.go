package code

import (
	"go/ast"
	"go/parser"
	"go/token"
)

// goOutline collects the definitions of a Go file.
type goOutline struct {
	file *token.File
	defs []definition
}

// outlineGo finds definitions by the syntax tree. It returns nil for a file too broken to have one.
func outlineGo(s *source) []definition {
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", s.text, parser.ParseComments|parser.SkipObjectResolution)
	if tree == nil || err != nil && len(tree.Decls) == 0 {
		return nil
	}
	o := &goOutline{file: fset.File(tree.FileStart), defs: []definition{}}
	if o.file == nil || !tree.Package.IsValid() {
		return nil
	}
	if tree.Doc != nil {
		o.addDefinition(definition{name: tree.Name.Name, kind: "package"}, tree.Doc, tree.Package, tree.Name.End())
	}
	for _, decl := range tree.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			o.addFunction(d)
		case *ast.GenDecl:
			o.addGeneral(d)
		}
	}
	return o.defs
}

func (o *goOutline) line(p token.Pos) int { return o.file.PositionFor(p, false).Line }

// addDefinition sets the lines of a definition and adds it. from is the position of the name.
func (o *goOutline) addDefinition(d definition, doc *ast.CommentGroup, from, to token.Pos) {
	d.line, d.end = o.line(from), o.line(to)
	d.doc = d.line
	if doc != nil {
		d.doc = o.line(doc.Pos())
	}
	o.defs = append(o.defs, d)
}

func (o *goOutline) addFunction(d *ast.FuncDecl) {
	def := definition{name: d.Name.Name, kind: "func"}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		def.kind, def.container = "method", receiver(d.Recv.List[0].Type)
	}
	o.addDefinition(def, d.Doc, d.Pos(), d.End()-1)
}

func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func (o *goOutline) addGeneral(d *ast.GenDecl) {
	if d.Tok == token.IMPORT || len(d.Specs) == 0 {
		return
	}
	grouped := d.Lparen.IsValid()
	if grouped && d.Tok != token.TYPE {
		o.addDefinition(definition{name: specNames(d.Specs[0])[0].Name, kind: d.Tok.String() + " group"}, d.Doc, d.Pos(),
			d.End()-1)
	}
	for _, spec := range d.Specs {
		switch sp := spec.(type) {
		case *ast.TypeSpec:
			doc, from, to := sp.Doc, sp.Pos(), sp.End()-1
			if !grouped {
				doc, from, to = d.Doc, d.Pos(), d.End()-1
			}
			o.addDefinition(definition{name: sp.Name.Name, kind: "type"}, doc, from, to)
			o.addMembers(sp)
		case *ast.ValueSpec:
			doc := sp.Doc
			if !grouped {
				doc = d.Doc
			}
			for _, name := range sp.Names {
				o.addDefinition(definition{name: name.Name, kind: d.Tok.String(), member: grouped}, doc, name.Pos(), sp.End()-1)
			}
		}
	}
}

func specNames(s ast.Spec) []*ast.Ident {
	if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) > 0 {
		return v.Names
	}
	return []*ast.Ident{{Name: "_"}}
}

// addMembers adds the fields of a struct and the methods of an interface.
func (o *goOutline) addMembers(spec *ast.TypeSpec) {
	var fields *ast.FieldList
	kind := "field"
	switch t := spec.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields, kind = t.Methods, "method"
	}
	if fields == nil {
		return
	}
	for _, f := range fields.List {
		for _, name := range f.Names {
			o.addDefinition(definition{name: name.Name, container: spec.Name.Name, kind: kind, member: true}, f.Doc, name.Pos(),
				f.End()-1)
		}
	}
}
