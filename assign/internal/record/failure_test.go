package record

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestFailureFitsIntoAHeader: JSON writes some bytes as six.
func TestFailureFitsIntoAHeader(t *testing.T) {
	for _, text := range []string{
		"", "short", strings.Repeat("x", 1<<20), strings.Repeat("\x00", 1<<20),
		strings.Repeat("\xff", 1<<20), strings.Repeat("<ü>", 1<<19),
	} {
		data := EncodeFailure(text, text)
		var f Failure
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		if len(data) > maxFailure || strings.ContainsAny(string(data), "\r\n") {
			t.Errorf("%d bytes of a text of %d", len(data), len(text))
		}
		if len(text) > 100 && (len(f.Error) < 1000 || len(f.Stack) < 1000) || len(text) <= 100 && f.Error != text {
			t.Errorf("%d bytes are left of a text of %d, %d of the stack", len(f.Error), len(text), len(f.Stack))
		}
	}
}
