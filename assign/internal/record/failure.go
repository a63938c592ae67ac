package record

import "encoding/json"

// maxText bounds the part of an error's text, and of a stack, that is kept, in bytes.
const maxText = 8 << 10

// EncodeFailure encodes a failure in at most maxFailure bytes, since it becomes a header of the
// outcome. JSON writes some bytes as six.
func EncodeFailure(text, stack string) []byte {
	for most := maxText; ; most /= 2 {
		data, err := json.Marshal(Failure{Error: beginning(text, most), Stack: beginning(stack, most)})
		if err != nil || len(data) <= maxFailure { // strings can always be encoded
			return data
		}
	}
}

// beginning is the first part of a text.
func beginning(text string, most int) string { return text[:min(len(text), most)] }
