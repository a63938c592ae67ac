package assign

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
