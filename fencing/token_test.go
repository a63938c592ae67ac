package fencing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

var testID = uuid.MustParse("6f1f3a52-7a4c-4f0e-9d35-2b8f0a6c1e77")

// drawToken draws complete tokens: any UTF-8 in the names, any numbers.
func drawToken(t *rapid.T) Token {
	name := rapid.StringN(1, 40, 120)
	id := uuid.UUID(
		rapid.SliceOfN(rapid.Byte(), 16, 16).Filter(func(b []byte) bool { return uuid.UUID(b) != uuid.Nil }).Draw(t, "id"))
	return NewToken(name.Draw(t, "role"), name.Draw(t, "holder"), rapid.Uint64Min(1).Draw(t, "epoch"),
		rapid.Uint32().Draw(t, "seq"), id)
}

func TestEncodeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawToken(t)
		text := want.Encode()
		got, err := Parse(text)
		if err != nil || !got.Equal(want) || got.Encode() != text {
			t.Fatalf("Parse(%q) = %#v, %v; want %#v", text, got, err, want)
		}
		for _, c := range []byte(text) {
			if c <= ' ' || c > '~' {
				t.Fatalf("%q is not fit for a header", text)
			}
		}
	})
}

func TestEncodeForm(t *testing.T) {
	const want = "rmt1/task%2F7/node-1.example/42/3/6f1f3a52-7a4c-4f0e-9d35-2b8f0a6c1e77"
	if got := NewToken("task/7", "node-1.example", 42, 3, testID).Encode(); got != want {
		t.Errorf("Encode = %q, want %q: this form is stored by users and must not change", got, want)
	}
}

func TestIncompleteIsNotEncoded(t *testing.T) {
	for name, tok := range map[string]Token{
		"zero":        {},
		"no role":     NewToken("", "h", 1, 0, testID),
		"no holder":   NewToken("r", "", 1, 0, testID),
		"no epoch":    NewToken("r", "h", 0, 0, testID),
		"no id":       NewToken("r", "h", 1, 0, uuid.Nil),
		"long role":   NewToken(strings.Repeat("r", maxName+1), "h", 1, 0, testID),
		"long holder": NewToken("r", strings.Repeat("h", maxName+1), 1, 0, testID),
		"not UTF-8":   NewToken("r\xff", "h", 1, 0, testID),
	} {
		if got := tok.Encode(); got != "" {
			t.Errorf("%s: Encode = %q, want nothing", name, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	id := testID.String()
	for _, text := range []string{
		"", "rmt1", "rmt1/", "rmt2/r/h/1/0/" + id, "rmt1/r/h/1/0", "rmt1/r/h/1/0/" + id + "/", "rmt1//h/1/0/" + id,
		"rmt1/r//1/0/" + id,
		"rmt1/r/h/0/0/" + id, "rmt1/r/h/01/0/" + id, "rmt1/r/h/+1/0/" + id, "rmt1/r/h/-1/0/" + id, "rmt1/r/h/1/00/" + id,
		"rmt1/r/h/18446744073709551616/0/" + id, "rmt1/r/h/1/4294967296/" + id, "rmt1/%72/h/1/0/" + id,
		"rmt1/%zz/h/1/0/" + id,
		"rmt1/%FF/h/1/0/" + id, "rmt1/r/h/1/0/{" + id + "}", "rmt1/r/h/1/0/" + strings.ToUpper(id),
		"rmt1/r/h/1/0/urn:uuid:" + id,
		"rmt1/r/h/1/0/" + uuid.Nil.String(), " rmt1/r/h/1/0/" + id, "rmt1/r/h/1/0/" + id + "\n",
		"rmt1/" + strings.Repeat("r", maxText) + "/h/1/0/" + id,
	} {
		tok, err := Parse(text)
		if !errors.Is(err, ErrSyntax) || !tok.IsZero() {
			t.Errorf("Parse(%.80q) = %v, %v; want ErrSyntax", text, tok, err)
		}
		if err != nil && strings.Contains(err.Error(), id) {
			t.Errorf("Parse(%.80q) repeats the id in its error: %v", text, err)
		}
	}
}

func TestLongestTokenParses(t *testing.T) {
	tok := NewToken(strings.Repeat("\x01", maxName), strings.Repeat("\x01", maxName), 1<<64-1, 1<<32-1, testID)
	if got, err := Parse(tok.Encode()); err != nil || !got.Equal(tok) {
		t.Errorf("the longest token: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(NewToken("scheduler", "node-1", 42, 0, testID).Encode())
	f.Add(NewToken("task/7", "nöde 1", 1<<63, 9, testID).Encode())
	f.Add("rmt1/r/h/1/0/{" + testID.String() + "}")
	f.Add("rmt1/%2f/%41/1/0/" + testID.String())
	f.Add("rmt1/////")
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrSyntax) || !tok.IsZero() {
				t.Fatalf("Parse(%q) = %#v, %v", text, tok, err)
			}
			return
		}
		if tok.Encode() != text {
			t.Fatalf("Parse(%q).Encode() = %q: two texts for one token", text, tok.Encode())
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", tok, tok, tok), tok.id.value.String()) {
			t.Fatalf("the id of %q is printed", text)
		}
	})
}

// No verb, no marshaller, no logger and no struct around a token lets the id out.
func TestRedaction(t *testing.T) {
	type holder struct {
		Public  Token
		private Token
		ptr     *Token
		any     any
	}
	tok := NewToken("scheduler", "node-1", 42, 3, testID)
	wrapped := holder{tok, tok, &tok, tok}
	var out bytes.Buffer
	for _, verb := range "vTtbcdoOqxXUeEfFgGspwz" {
		for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "40", "-40.3"} {
			format := "%" + flags + string(verb) + "\n"
			for _, v := range []any{tok, &tok, []Token{tok}, map[string]Token{"k": tok}, wrapped, &wrapped, holder{any: &tok}} {
				fmt.Fprintf(&out, format, v)
			}
		}
	}
	for _, v := range []any{tok, &tok, wrapped, map[string]Token{"k": tok}} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	text, err := tok.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	out.Write(text)
	for _, h := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(h).Info("promoted", "token", tok, "pointer", &tok, "wrapped", wrapped)
	}
	for _, err := range []error{
		&StaleError{Token: tok, High: tok}, &ConflictError{Token: tok, High: tok}, &RoleError{Want: "x", Token: tok},
	} {
		fmt.Fprintf(&out, "%v %+v %#v %s %q", err, err, err, err, err)
	}

	// The id in every shape that a printer could give it: as text, as bytes in hex and in decimal.
	id := testID[:]
	for _, secret := range []string{
		testID.String(), strings.ToUpper(testID.String()), fmt.Sprintf("%x", id), fmt.Sprintf("%X", id),
		fmt.Sprintf("% x", id),
		strings.Trim(fmt.Sprint(id), "[]"), strings.Trim(fmt.Sprintf("%#v", id), "byte[]{}"), string(id), testID.String()[:8],
	} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("the id is printed as %q", secret)
		}
	}
	if !strings.Contains(out.String(), "scheduler@42.3 held by node-1") {
		t.Errorf("nothing useful is printed: %.400s", out.String())
	}
}

func TestPrinted(t *testing.T) {
	tok := NewToken("scheduler", "node-1", 42, 0, testID)
	for _, c := range []struct{ got, want string }{
		{fmt.Sprint(tok), "scheduler@42 held by node-1"},
		{fmt.Sprintf("%-30s|", tok), "scheduler@42 held by node-1   |"},
		{fmt.Sprintf("%q", tok), `"scheduler@42 held by node-1"`},
		{fmt.Sprintf("%#v", tok), `fencing.Token{Role:"scheduler", Holder:"node-1", Epoch:42, Seq:0, id:redacted}`},
		{fmt.Sprint(Token{}), "no token"},
		{fmt.Sprint(Token{Role: "r", Epoch: 7}), "r@7"},
		{string(must(json.Marshal(tok))), `{"role":"scheduler","holder":"node-1","epoch":42}`},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestCompareAndEqual(t *testing.T) {
	a := NewToken("r", "h", 5, 1, testID)
	for _, c := range []struct {
		u    Token
		want int
	}{
		{NewToken("r", "h", 5, 1, uuid.New()), 0},
		{NewToken("r", "h", 5, 2, testID), -1},
		{NewToken("r", "h", 6, 0, testID), -1},
		{NewToken("r", "h", 4, 9, testID), 1},
	} {
		if a.Compare(c.u) != c.want || c.u.Compare(a) != -c.want || a.Equal(c.u) {
			t.Errorf("Compare(%v, %v) = %d, want %d; Equal %t", a, c.u, a.Compare(c.u), c.want, a.Equal(c.u))
		}
	}
	if b := NewToken("r", "h", 5, 1, testID); !a.Equal(b) || !a.SameID(b) || a == b {
		t.Error("tokens of one term are Equal, though stored apart")
	}
	if none := (Token{}); !none.IsZero() || !none.Equal(none) || none.SameID(none) || a.IsZero() {
		t.Error("the zero token")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
