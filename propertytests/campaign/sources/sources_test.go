package sources_test

import (
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
)

func example() fstest.MapFS {
	return fstest.MapFS{
		"go.mod":                 {Data: []byte("// of tests\nmodule example.org/m\n\ngo 1.26\n")},
		"world/w.go":             {Data: []byte("package world\n\nimport (\n\t\"fmt\"\n\n\t_ \"example.org/m/core\"\n)\n")},
		"world/w_test.go":        {Data: []byte("package world_test\n\nimport _ \"example.org/m/aid\"\n")},
		"world/mutants_test.go":  {Data: []byte("package world\n")},
		"world/testdata/x.go":    {Data: []byte("package x\n")},
		"core/c.go":              {Data: []byte("package core\n\nimport _ \"example.org/m/core/below\"\n")},
		"core/c_windows.go":      {Data: []byte("package core\n")},
		"core/c_test.go":         {Data: []byte("package core\n\nimport _ \"example.org/m/other\"\n")},
		"core/below/b.go":        {Data: []byte("package below\n\nimport _ \"example.org/mm/world\"\n")},
		"aid/a.go":               {Data: []byte("package aid\n\nimport _ \"example.org/m/world\"\n")},
		"other/o.go":             {Data: []byte("package other\n")},
		"other/mutants_notes.go": {Data: []byte("package other\n")},
	}
}

// TestMark: a mark changes with what is in the files, and with nothing else.
func TestMark(t *testing.T) {
	for _, c := range []struct {
		name  string
		files func(fstest.MapFS) ([]string, error)
		want  []string
	}{
		{"directories", func(m fstest.MapFS) ([]string, error) { return sources.In(m, "core", "other") }, []string{
			"core/c.go", "core/c_windows.go", "other/mutants_notes.go", "other/o.go",
		}},
		{"tests", func(m fstest.MapFS) ([]string, error) { return sources.Under(m, "world") }, []string{
			"aid/a.go", "core/below/b.go", "core/c.go", "core/c_windows.go", "go.mod", "world/w.go", "world/w_test.go",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := example()
			mark := func() string {
				files, err := c.files(module)
				if err != nil || !slices.Equal(files, c.want) {
					t.Fatalf("%v, %v, want %v", files, err, c.want)
				}
				m, err := sources.Mark(module, files)
				if err != nil || len(m) != 8 {
					t.Fatalf("%q, %v", m, err)
				}
				return m
			}
			for file := range module {
				before := mark()
				module[file].Data = append(module[file].Data, "// changed\n"...)
				if changed := mark() != before; changed != slices.Contains(c.want, file) {
					t.Errorf("%s is another one, and the mark: %v", file, changed)
				}
			}
		})
	}
}

// TestNothingThere: what is not there has no mark.
func TestNothingThere(t *testing.T) {
	module := example()
	if files, err := sources.In(module, "core", "elsewhere"); err == nil {
		t.Errorf("%v of no files", files)
	}
	if files, err := sources.Under(module, "elsewhere"); err == nil {
		t.Errorf("%v of no files", files)
	}
	if m, err := sources.Mark(module, []string{"core/x.go"}); err == nil {
		t.Errorf("%s of no file", m)
	}
	module["core/c.go"].Data = []byte("package core\n\nimport _ \"example.org/m/gone\"\n")
	if files, err := sources.Under(module, "world"); err == nil {
		t.Errorf("%v, and one package of them is not there", files)
	}
}

// TestThisModule: tests here are made of the rules that they are of.
func TestThisModule(t *testing.T) {
	files, err := sources.Under(os.DirFS("../../.."), "propertytests/model/explore")
	for _, want := range []string{
		"internal/protocol/machine.go", "internal/protocol/tasks/frame/addressee.go",
		"propertytests/model/explore/tasks/net.go", "propertytests/model/explore/explore_test.go",
	} {
		if err != nil || !slices.Contains(files, want) {
			t.Errorf("%s is not among %d files, %v", want, len(files), err)
		}
	}
}
