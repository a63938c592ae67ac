package assign

import (
	"bytes"
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
