package fuzz

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// TestEveryDecoderHasATarget: each function that reads what comes from outside is in the table,
// with a target that comes to it or the reason why none does; and whatever is in the table is
// there.
func TestEveryDecoderHasATarget(t *testing.T) {
	all, err := every()
	if err != nil {
		t.Fatal(err)
	}
	s := newSource(t, "../../..")
	for name := range s.decoders {
		if _, known := decoders[name]; !known {
			t.Errorf("%s decodes something: say in the table which target comes to it, or why none does", name)
		}
	}
	for name, by := range decoders {
		d, is := s.decoders[name]
		if !is {
			t.Errorf("%s is in the table, and decodes nothing", name)
			continue
		}
		if by, is = strings.CutPrefix(by, "Fuzz"); !is {
			continue // a reason
		}
		from := declaration{d.dir, "Fuzz" + by, true}
		switch is := slices.ContainsFunc(all, func(f target) bool {
			return f.name == from.name && f.pkg.ImportPath == testbinary.Module+d.dir
		}); {
		case !is:
			t.Errorf("%s: there is no %s in its package", name, from.name)
		case !s.leads(from, d):
			t.Errorf("%s: %s does not come to it", name, from.name)
		}
	}
}

// TestWhatDecodes: a decoder is known by what it calls, or by its name, and a target comes to what
// it names by whatever way.
func TestWhatDecodes(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"a/a.go": "package a\nimport (\n\"encoding/json\"\n\"strings\"\n)\ntype T struct{}\n" +
			"func (t *T) UnmarshalJSON(b []byte) error { return nil }\n" +
			"func read(b []byte) { var t T; json.Unmarshal(b, &t); way() }\nfunc way() { strings.Cut(\"\", \"\"); way2() }\n" +
			"func way2() { parse4() }\nfunc parse4() {}\nfunc plain() {}\nfunc other(b []byte) { json.Unmarshal(b, nil) }\n",
		"a/a_test.go": "package a\nimport \"encoding/json\"\nvar by = read\nfunc FuzzA() { by(nil) }\n" +
			"func helper() { json.Unmarshal(nil, nil) }\n",
		"b/b.go": "package b\nimport (\n\"encoding/hex\"\n\"strings\"\n)\nfunc Far() { strings.Cut(\"\", \"\") }\n" +
			"func encoded() { hex.EncodeToString(nil) }\nfunc parseIt() {}\n",
		"bench/c.go":      "package bench\nimport \"strconv\"\nfunc F() { strconv.Atoi(\"\") }\n",
		"b/testdata/x.go": "package x\nfunc parseX() {}\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, path.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newSource(t, root)
	if got, want := slices.Sorted(maps.Keys(s.decoders)), []string{
		"a/T.UnmarshalJSON", "a/other", "a/parse4", "a/read",
		"a/way", "b/Far", "b/parseIt",
	}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, want := range map[string]bool{
		"a/read": true, "a/T.UnmarshalJSON": true, "a/way": true, "a/parse4": false,
		"a/other": false, "b/Far": false,
	} {
		if s.leads(declaration{"a", "FuzzA", true}, s.decoders[name]) != want {
			t.Errorf("FuzzA comes to %s: %v", name, !want)
		}
	}
}

// aside is what reads only what it has made, or played, itself: it is not a part of the product.
var aside = regexp.MustCompile(`^(propertytests|bench|examples|tools|electiontest|assigntest|internal/natsrun|internal/natstest|internal/architecture|internal/check)(/|$)`)

// calls are the functions that decode, by package; methods are those of whatever type; and named
// are our own. A function that reads the header of a message decodes too.
var (
	calls = map[string]*regexp.Regexp{
		"bufio": regexp.MustCompile("^NewReader|^NewScanner"), "bytes": taking, "strings": taking,
		"crypto/tls":      regexp.MustCompile("^LoadX509"),
		"encoding/binary": regexp.MustCompile("^Uvarint|^Varint|^Read|^Decode"),
		"encoding/csv":    regexp.MustCompile("^NewReader"), "encoding/gob": regexp.MustCompile("^NewDecoder"),
		"encoding/hex": regexp.MustCompile("^Decode"), "encoding/json": regexp.MustCompile("^Unmarshal|^NewDecoder"),
		"encoding/pem": regexp.MustCompile("^Decode"), "encoding/xml": regexp.MustCompile("^Unmarshal|^NewDecoder"),
		"fmt": regexp.MustCompile("^[SF]?[sS]can"), "github.com/google/uuid": regexp.MustCompile("^Parse|^FromBytes"),
		"github.com/nats-io/nkeys": regexp.MustCompile("^Decode|^Parse|^From"),
		"net/url":                  regexp.MustCompile("^Parse|Unescape$"),
		"strconv":                  regexp.MustCompile("^Parse|^Atoi|^Unquote"),
		"time":                     regexp.MustCompile("^Parse|^LoadLocation"),
	}
	taking  = regexp.MustCompile("^Cut|^Split|^Fields")
	methods = regexp.MustCompile(
		"^(Decode|DecodeString|Uint16|Uint32|Uint64|Metadata|AppendCertsFromPEM|FindStringSubmatch|FindSubmatch)$")
	named = regexp.MustCompile("^(decode|Decode|parse|Parse|Unmarshal)")
)

// declaration is what has one name in one directory, in its tests or beside them: functions,
// methods of whatever type and variables, taken together.
type declaration struct {
	dir, name string
	test      bool
}

// source are the names in the declarations of each node of a module, and which functions of it
// decode, by their full names.
type source struct {
	nodes    map[declaration]map[string]bool
	decoders map[string]declaration
}

func newSource(t *testing.T, root string) source {
	t.Helper()
	s := source{map[declaration]map[string]bool{}, map[string]declaration{}}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		dir := path.Dir(filepath.ToSlash(name))
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root) {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(file, ".go") || aside.MatchString(dir) {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s.add(dir, f, strings.HasSuffix(file, "_test.go"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// add takes a file in.
func (s source) add(dir string, f *ast.File, test bool) {
	imports := map[string]string{} // by the name that they have here
	for _, i := range f.Imports {
		p, _ := strconv.Unquote(i.Path.Value) // it was parsed
		name := path.Base(p)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = p
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			full := d.Name.Name
			if d.Recv != nil {
				full = receiver(d) + "." + full
			}
			s.mention(declaration{dir, d.Name.Name, test}, d)
			if !test && decodes(d.Name.Name, d, imports) {
				s.decoders[path.Join(dir, full)] = declaration{dir, d.Name.Name, false}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				v, is := spec.(*ast.ValueSpec)
				for i := 0; is && i < len(v.Names); i++ {
					s.mention(declaration{dir, v.Names[i].Name, test}, v)
					if !test && decodes("", v, imports) {
						s.decoders[path.Join(dir, v.Names[i].Name)] = declaration{dir, v.Names[i].Name, false}
					}
				}
			}
		}
	}
}

func receiver(d *ast.FuncDecl) (name string) {
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

func (s source) mention(n declaration, in ast.Node) {
	if s.nodes[n] == nil {
		s.nodes[n] = map[string]bool{}
	}
	ast.Inspect(in, func(x ast.Node) bool {
		if id, is := x.(*ast.Ident); is {
			s.nodes[n][id.Name] = true
		}
		return true
	})
}

// byLibraries are methods that nobody here calls by their name.
var byLibraries = []string{"UnmarshalJSON", "UnmarshalText", "Set"}

// farthest is how many functions of a package lie on the way from a target of it to a decoder, the
// decoder too. Names are not told apart by whose they are, so on a longer way everything would lead
// to everything.
const farthest = 3

// leads reports whether a target names a decoder, by way of other tests and of few functions
// besides.
func (s source) leads(target, decoder declaration) bool {
	far, todo := map[declaration]int{target: 0}, []declaration{target}
	for _, name := range byLibraries {
		n := declaration{target.dir, name, false}
		far[n], todo = 1, append(todo, n)
	}
	for ; len(todo) > 0; todo = todo[1:] {
		n := todo[0]
		for name := range s.nodes[n] {
			for _, to := range []declaration{{n.dir, name, true}, {n.dir, name, false}} {
				d := far[n]
				if !to.test {
					d++
				}
				was, seen := far[to]
				if s.nodes[to] == nil || to.test && !n.test || d > farthest || seen && was <= d {
					continue
				}
				far[to] = d
				todo = append(todo, to)
			}
		}
	}
	_, is := far[decoder]
	return is
}

// decodes reports whether a function is known for it by its name, or by what it calls.
func decodes(name string, d ast.Node, imports map[string]string) (is bool) {
	found := func() bool {
		is = true
		return false
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of, outside := n.X.(*ast.Ident)
			p := ""
			if outside {
				p = imports[of.Name]
			}
			if header, is := n.X.(*ast.SelectorExpr); is && header.Sel.Name == "Header" &&
				(n.Sel.Name == "Get" || n.Sel.Name == "Values") {
				return found()
			}
			if call := calls[p]; call != nil && call.MatchString(n.Sel.Name) || p == "" && methods.MatchString(n.Sel.Name) {
				return found()
			}
		case *ast.IndexExpr:
			if header, taken := n.X.(*ast.SelectorExpr); taken && header.Sel.Name == "Header" {
				return found()
			}
		}
		return !is
	})
	return is || named.MatchString(name)
}
