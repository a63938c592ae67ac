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

// valid reports whether all texts of a value are UTF-8, of those that the encoder looks at: the
// exported fields, those of embedded structs too, and what MarshalText returns.
func valid(v reflect.Value, depth int) bool {
	if depth > deepest {
		return true
	}
	if text, is := textOf(v); is {
		return utf8.Valid(text)
	}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || valid(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if encoded(v.Type().Field(i)) && !valid(v.Field(i), depth+1) {
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
			key := entries.Key()
			if key.Kind() == reflect.String { // the encoder calls no method of it
				key = reflect.ValueOf(key.String())
			}
			if !valid(key, depth+1) || !valid(entries.Value(), depth+1) {
				return false
			}
		}
	}
	return true
}

// encoded reports whether the encoder looks at a field: not at one without a name outside its
// package, but at what is embedded under such a name.
func encoded(f reflect.StructField) bool {
	embedded := f.Type
	if embedded.Kind() == reflect.Pointer {
		embedded = embedded.Elem()
	}
	return f.Tag.Get("json") != "-" && (f.IsExported() || f.Anonymous && embedded.Kind() == reflect.Struct)
}

// textOf is what MarshalText returns, for a value that the encoder writes so.
func textOf(v reflect.Value) (text []byte, is bool) {
	switch {
	case !v.IsValid() || !v.CanInterface() || v.Kind() == reflect.Pointer && v.IsNil():
		return nil, false
	case v.Kind() != reflect.Pointer && v.CanAddr():
		v = v.Addr() // its methods are those of the value, too
	}
	if _, is := v.Interface().(json.Marshaler); is {
		return nil, false
	}
	m, is := v.Interface().(encoding.TextMarshaler)
	if !is {
		return nil, false
	}
	text, err := m.MarshalText()
	return text, err == nil
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
