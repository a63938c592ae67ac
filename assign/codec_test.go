package assign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"
)

// TestTypesOfKinds: a kind whose input or output nobody could decode is refused when it is made.
func TestTypesOfKinds(t *testing.T) {
	refused := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"interface": refused(MakeKind[fmt.Stringer, string]("k")),
		"error":     refused(MakeKind[string, error]("k")),
		"pointer":   refused(MakeKind[*io.Reader, string]("k")),
		"slice":     refused(MakeKind[[]fmt.Stringer, string]("k")),
		"map":       refused(MakeKind[map[string][]error, string]("k")),
		"channel":   refused(MakeKind[int, chan int]("k")),
		"function":  refused(MakeKind[func(), string]("k")),
		"complex":   refused(MakeKind[complex128, string]("k")),
	} {
		if !errors.Is(err, ErrInvalidKind) || strings.Contains(err.Error(), "<nil>") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, err := range []error{
		refused(MakeKind[any, any]("k")), refused(MakeKind[map[string]any, []any]("k")),
		refused(MakeKind[struct{ E error }, *int]("k")), refused(MakeKind[json.RawMessage, []byte]("k")),
		refused(MakeKind[time.Time, big.Int]("k")), refused(MakeKind[[4]byte, struct{}]("k")),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

// TestBytesInAny: they would come out as a text, so they are refused. No message has <nil> for a
// type.
func TestBytesInAny(t *testing.T) {
	if _, err := encode[any]([]byte("hello")); !errors.Is(err, errBytesInAny) {
		t.Error(err)
	}
	for _, v := range []any{nil, "hi", 1.5, map[string]any{"a": []any{true}}} {
		data, err := encode(v)
		if err != nil {
			t.Error(err)
		}
		if got, err := decode[any](data); fmt.Sprint(got) != fmt.Sprint(v) || err != nil {
			t.Errorf("%v becomes %v, %v", v, got, err)
		}
	}
	if _, err := decode[any]([]byte("{")); err == nil || !strings.Contains(err.Error(), "decode interface {}: ") {
		t.Error(err)
	}
}
