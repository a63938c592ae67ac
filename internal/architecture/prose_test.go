package architecture

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// The rules of plain English that a machine can check. They are for everything that people read:
// documents, and comments and texts of the sources.

// relative begins a sentence with a clause in the place of a noun.
var relative = regexp.MustCompile(`^(?:Who(?:ever)?|What(?:ever)?|Of what|That which)\b`)

// headless begins a text with such a clause. Messages begin with a small letter, and a single word
// can be a name. A clause with "what" may begin a message of a test, and not one for people.
var (
	headless       = regexp.MustCompile(`^(?:who(?:ever)?|whatever|of what|that which) \S+ \S`)
	headlessThings = regexp.MustCompile(`^what (?:is|are|was|were|has|have|had) \S`)
)

// unidiomatic are phrases that readers stumble over, with what to write.
var unidiomatic = []struct {
	phrase *regexp.Regexp
	write  string
}{
	{regexp.MustCompile(`(?i)\banew\b`), "again, or recreated"},
	{regexp.MustCompile(`(?i)\bleads? \S+ no longer\b`), "lost leadership of"},
	{regexp.MustCompile(`(?i)\b(?:is|are|was|were) no [\p{L}-]+`), "is not a valid …, or is not a …"},
	{regexp.MustCompile(`(?i)\bmended\b`), "fixed"},
	{regexp.MustCompile(`(?i)\bas it comes\b`), "with its defaults"},
	{regexp.MustCompile(`(?i)\b(?:go|goes|going|gone|went) on\b`), "continues"},
	{regexp.MustCompile(`(?i)\bmade again\b`), "recreated"},
	{regexp.MustCompile(`(?i)\bwhoever\b`), "a process that …"},
	{regexp.MustCompile(`(?i)\b(?:for|to|so|than) who\b`), "a process that …"},
	{regexp.MustCompile(`(?i)\b(?:say|says|said|saying) of (?:the|a|an|it|itself|what|every)\b`), "says about"},
	{regexp.MustCompile(`(?i)\bby now\b`), "already"},
	{regexp.MustCompile(`(?i)\bin good order\b`), "cleanly"},
}

// thereIsNo is good English, although it contains "is no", and so is a comparison.
var thereIsNo = regexp.MustCompile(`(?i)\b(?:there (?:is|are|was|were) no\b|(?:is|are|was|were) no (?:longer|more|less)\b)`)

// stumbles are the faults of one sentence.
func stumbles(sentence string) (faults []string) {
	if relative.MatchString(sentence) && !strings.HasSuffix(sentence, "?") {
		faults = append(faults, "begins with a clause in the place of a noun: say \"a process that …\"")
	}
	rest := thereIsNo.ReplaceAllString(sentence, "")
	for _, u := range unidiomatic {
		if found := u.phrase.FindString(rest); found != "" {
			faults = append(faults, "says \""+found+"\": write "+u.write)
		}
	}
	return faults
}

// sentences are those of a paragraph. A sentence ends with a full stop, a question mark or an
// exclamation mark before a space.
func sentences(paragraph string) (all []string) {
	words := strings.Fields(paragraph)
	begin := 0
	for i, w := range words {
		end := strings.TrimRight(w, "\"')*_”’")
		if i+1 == len(words) || strings.HasSuffix(end, ".") && len(end) > 1 || strings.HasSuffix(end, "?") ||
			strings.HasSuffix(end, "!") {
			all = append(all, strings.Join(words[begin:i+1], " "))
			begin = i + 1
		}
	}
	return all
}

// length is how many words a sentence has.
func length(sentence string) (n int) {
	for _, w := range strings.Fields(sentence) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			n++
		}
	}
	return n
}

func TestSentences(t *testing.T) {
	got := sentences("One ends. Version 2.12 does not! Does (this one)? It **does.** Last")
	want := []string{"One ends.", "Version 2.12 does not!", "Does (this one)?", "It **does.**", "Last"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
	if n := length("Two – words"); n != 2 {
		t.Errorf("%d words", n)
	}
}

// A ~ keeps TestPlainGo from seeing these sentences.
func TestStumbles(t *testing.T) {
	for text, want := range map[string]int{
		"W~hoever leads is told.":                           2,
		"What does it cost?":                                0,
		"W~hatever it costs, it is made a~new.":             2,
		"The process leads scheduler no ~longer.":           1,
		"This is no ~bucket of ours.":                       1,
		"The fault was me~nded, and is used as it ~comes.":  2,
		"Somebody who leads is told.":                       0,
		"There is no bucket.":                               0,
		"There are no tasks, and it is no longer led.":      0,
		"They were no ~tasks, and it is recreated.":         1,
		"It goes ~on, for w~hoever it is.":                  2,
		"So w~ho leads is told, and it was made a~gain.":    2,
		"It has ended in good o~rder by n~ow, says o~f it.": 3,
	} {
		text = strings.ReplaceAll(text, "~", "")
		if got := stumbles(text); len(got) != want {
			t.Errorf("%s: %q, want %d", text, got, want)
		}
	}
}
