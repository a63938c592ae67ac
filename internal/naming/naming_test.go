package naming

import "testing"

// TestWord: a name of a bucket or a namespace has nothing that a subject or a file reads as more
// than a letter.
func TestWord(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "Az-09_": true, "12345678": true, "123456789": false, "": false, "a.b": false, "a b": false,
		"a/b": false, "a=b": false, "a*": false, "é": false, "a\n": false, "a\x00": false,
	} {
		if Word(name, 8) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
