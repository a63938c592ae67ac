package assign

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// Codec seals the inputs, outputs and checkpoints of tasks, so that somebody who reads the stream
// cannot read them. Package keyring has one. It is called from many goroutines at once.
type Codec interface {
	// Seal seals data, and returns the id of the key: 1 to 64 bytes, which everybody can read. The
	// sealed form must open only together with the same about, which names the namespace, the task
	// and whether it is an input, an output or a checkpoint. It is larger than data by 900 bytes at
	// most.
	Seal(data, about []byte) (key string, sealed []byte, err error)
	// Open returns the data. Errors: ErrUnknownKey for a key that this codec does not have; all
	// others mean ErrTampered.
	Open(key string, sealed, about []byte) ([]byte, error)
	// Keys are the ids of the keys that it opens. They stay the same as long as the process runs.
	Keys() []string
}

// encode makes the record of an input or an output. Bytes are taken as they are, and all else as
// JSON.
func encode[T any](v T) ([]byte, error) {
	if _, ok := any(v).([]byte); ok && reflect.TypeFor[T]().Kind() == reflect.Interface {
		return nil, fmt.Errorf("encode %v: %w", reflect.TypeFor[T](), errBytesInAny)
	}
	return encodeOf(v, reflect.TypeFor[T]())
}

// encodeOf is encode of a value that is of type t.
func encodeOf(v any, t reflect.Type) ([]byte, error) {
	if raw, ok := v.([]byte); ok {
		return raw, nil
	}
	data, err := json.Marshal(v)
	if err == nil {
		err = checkText(v, data)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %v: %w", t, err)
	}
	return data, nil
}

var errBytesInAny = errors.New("the value is []byte, and would come out as a string: make the kind of []byte")

func decode[T any](data []byte) (v T, err error) {
	if raw, ok := any(&v).(*[]byte); ok {
		*raw = data
		return v, nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, fmt.Errorf("decode %v: %w", reflect.TypeFor[T](), err)
	}
	return v, nil
}

var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// checkType returns what is wrong with a type of inputs or outputs: one into which no JSON can be
// decoded.
func checkType(what string, t reflect.Type) error {
	for at := t; ; at = at.Elem() {
		if p := reflect.PointerTo(at); p.Implements(readsJSON) || p.Implements(readsText) {
			return nil
		}
		switch at.Kind() {
		case reflect.Interface:
			if at.NumMethod() == 0 {
				return nil
			}
			return fmt.Errorf("its %s is %v, and JSON cannot be decoded into the interface %v: use a struct, or []byte",
				what, t, at)
		case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
			return fmt.Errorf("its %s is %v, and JSON has nothing like %v: use a struct, or []byte", what, t, at)
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		default:
			return nil
		}
	}
}

var errNotUTF8 = errors.New("a text in it is not UTF-8, and JSON would change it: use []byte, " +
	"or an encoding such as base64")

// checkText refuses a value whose JSON is another one than it should be: the encoder replaces what
// is not UTF-8. It writes \ufffd for that, and nothing else does so but texts that are JSON
// already.
func checkText(v any, data []byte) error {
	if bytes.Contains(data, []byte(`\ufffd`)) && !valid(reflect.ValueOf(v), 0) {
		return errNotUTF8
	}
	return nil
}

// deepest bounds the way down into a value. The encoder refuses a value that contains itself.
const deepest = 1000

// valid reports whether all texts of a value are UTF-8.
func valid(v reflect.Value, depth int) bool {
	if depth > deepest {
		return true
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || valid(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && !valid(v.Field(i), depth+1) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !valid(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !valid(entries.Key(), depth+1) || !valid(entries.Value(), depth+1) {
				return false
			}
		}
	}
	return true
}

// checkLabels refuses labels that a record would change.
func checkLabels(labels map[string]string) string {
	for name, value := range labels {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return fmt.Sprintf("%q: %q is not UTF-8: use an encoding such as base64", name, value)
		}
	}
	return ""
}
