package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	fencedBlock = regexp.MustCompile("(?ms)^```.*?^```$")
	inlineCode  = regexp.MustCompile("`[^`\n]*`")
	link        = regexp.MustCompile(`(?:\]\(|\bsrc="|\bsrcset=")([^()"\s]+)[)"]`)
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// TestLinks: every link of a document to another file leads to an existing file, and every link to
// a part of a page leads to one of its headings.
func TestLinks(t *testing.T) {
	for _, path := range documents(t) {
		text := fencedBlock.ReplaceAllString(read(t, path), "")
		for _, m := range link.FindAllStringSubmatch(inlineCode.ReplaceAllString(text, ""), -1) {
			target, part, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			file := path
			if target != "" {
				file = filepath.Join(filepath.Dir(path), target)
			}
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, m[1])
				continue
			}
			if part != "" && !anchors(read(t, file))[part] {
				t.Errorf("%s links to %s, which is not a heading of %s", path, m[1], file)
			}
		}
	}
}

// anchors are the names of a page's headings, as GitHub makes them.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		all[strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, m[1])] = true
	}
	return all
}
