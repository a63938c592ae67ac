package architecture

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The bounds of a page, in words: the mean of its sentences, and the longest sentence.
const (
	meanWords = 20
	mostWords = 35
)

// TestPlainEnglish: the documents follow the rules of stumbles, and their sentences are short, in
// tables too. Code does not count, and the mean is without tables, whose cells are mostly words.
func TestPlainEnglish(t *testing.T) {
	for _, path := range documents(t) {
		paragraphs, cells := prose(read(t, path))
		n, words := 0, 0
		for _, p := range paragraphs {
			for _, s := range sentences(p) {
				n, words = n+1, words+length(s)
			}
		}
		if n > 0 && words > meanWords*n {
			t.Errorf("%s: %.1f words a sentence, more than %d", path, float64(words)/float64(n), meanWords)
		}
		for _, p := range append(paragraphs, cells...) {
			for _, s := range sentences(p) {
				for _, fault := range stumbles(s) {
					t.Errorf("%s: %s: %s", path, s, fault)
				}
				if l := length(s); l > mostWords {
					t.Errorf("%s: %d words, more than %d: %s", path, l, mostWords, s)
				}
			}
		}
	}
}

// TestPlainConfigurations: the comments of configurations follow the rules too. People copy these
// files.
func TestPlainConfigurations(t *testing.T) {
	found := 0
	for _, path := range files(t, ".conf", ".service", ".yaml", ".yml", ".sh") {
		for _, p := range hashComments(read(t, path)) {
			found++
			for _, s := range sentences(p) {
				for _, fault := range stumbles(s) {
					t.Errorf("%s: %s: %s", path, s, fault)
				}
				if l := length(s); l > mostWords {
					t.Errorf("%s: %d words, more than %d: %s", path, l, mostWords, s)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d comments were found", found)
	}
}

// hashComments are the comments of a configuration: lines that follow each other are one.
func hashComments(text string) (all []string) {
	open := false
	for line := range strings.Lines(text) {
		code, said, ok := strings.Cut(strings.TrimSpace(line), "#")
		said = strings.TrimSpace(said)
		alone := code == ""
		switch {
		case !ok || said == "":
			open = false
		case alone && open:
			all[len(all)-1] += " " + said
		default:
			all, open = append(all, said), alone
		}
	}
	return all
}

func TestHashComments(t *testing.T) {
	got := hashComments("# One, and\n# more.\n#\n# Two.\na: 1 # three\n# Four\n")
	if want := []string{"One, and more.", "Two.", "three", "Four"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

var (
	remark   = regexp.MustCompile(`(?s)<!--.*?-->`)
	anyLink  = regexp.MustCompile(`!?\[([^\]]*)\]\([^()\s]*\)`)
	listItem = regexp.MustCompile(`^\s*(?:[-*]|\d+\.)\s+`)
)

// prose returns the sentences of a page, by paragraphs and items of lists, and the cells of its
// tables. It leaves out headings and code; code within a line counts as a word.
func prose(text string) (paragraphs, cells []string) {
	text = remark.ReplaceAllString(fencedBlock.ReplaceAllString(text, ""), "")
	text = anyLink.ReplaceAllString(inlineCode.ReplaceAllString(text, "code"), "$1")
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		item := listItem.FindString(line)
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"):
			open = false
		case strings.HasPrefix(line, "|"):
			open = false
			for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
				cells = append(cells, strings.TrimSpace(cell))
			}
		case !open || item != "":
			open = true
			paragraphs = append(paragraphs, line[len(item):])
		default:
			paragraphs[len(paragraphs)-1] += " " + strings.TrimSpace(line)
		}
	}
	return paragraphs, cells
}
