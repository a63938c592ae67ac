package architecture

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	treeBlock = regexp.MustCompile("(?s)\n## The tree\n\n```\n(.*?)```\n")
	treeNames = regexp.MustCompile(`^( *)(\S+/(?:, \S+/)*)(?: {2,}|$)`)
	treeGroup = regexp.MustCompile(`^(.*)\{(.*)\}(.*)$`)
)

// TestTree: the tree of ARCHITECTURE.md names every folder that holds Go sources, and no folder
// that does not exist.
func TestTree(t *testing.T) {
	found := treeBlock.FindStringSubmatch(read(t, "ARCHITECTURE.md"))
	if found == nil {
		t.Fatal("ARCHITECTURE.md has no tree")
	}
	named := foldersOf(t, found[1])
	for folder := range named {
		if info, err := os.Stat(filepath.Join(root, folder)); err != nil || !info.IsDir() {
			t.Errorf("the tree of ARCHITECTURE.md names %s, which does not exist", folder)
		}
	}
	missing := map[string]bool{}
	for _, source := range sources(t) {
		if folder := path.Dir(filepath.ToSlash(source)); !named[folder] && folder != "." {
			missing[folder] = true
		}
	}
	for folder := range maps.Keys(missing) {
		t.Errorf("the tree of ARCHITECTURE.md does not name %s", folder)
	}
}

// foldersOf are the folders of a tree. A line is indented by two columns for each folder above it,
// and may name several folders: "a/, b/" or "{a,b}/".
func foldersOf(t *testing.T, tree string) map[string]bool {
	t.Helper()
	all, above := map[string]bool{}, []string{""}
	for line := range strings.Lines(tree) {
		parts := treeNames.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if parts == nil || len(parts[1])%2 != 0 || len(parts[1])/2 >= len(above) {
			t.Errorf("a line of the tree that names no folder below one above it: %q", line)
			continue
		}
		above = above[:len(parts[1])/2+1]
		names := strings.Split(parts[2], ", ")
		for _, name := range names {
			choices := []string{name}
			if group := treeGroup.FindStringSubmatch(name); group != nil {
				choices = choices[:0]
				for choice := range strings.SplitSeq(group[2], ",") {
					choices = append(choices, group[1]+choice+group[3])
				}
			}
			for _, folder := range choices {
				all[path.Join(above[len(above)-1], folder)] = true
			}
		}
		above = append(above, path.Join(above[len(above)-1], names[0]))
	}
	return all
}

func TestFoldersOf(t *testing.T) {
	got := foldersOf(t, "a/    one\n  b/, c/   two, three/\n  i/{d,e}/  more\nf/\n")
	want := map[string]bool{"a": true, "a/b": true, "a/c": true, "a/i/d": true, "a/i/e": true, "f": true}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
