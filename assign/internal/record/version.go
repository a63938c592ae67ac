package record

import (
	"encoding/json"
	"errors"
)

// ErrRecord says that a record cannot be read by this program.
var ErrRecord = errors.New("not a record of version 1")

// LaterVersion reports whether a record names a version that this program does not know.
func LaterVersion(data []byte) bool {
	var record struct {
		Version int `json:"v"`
	}
	return json.Unmarshal(data, &record) == nil && record.Version > 1
}
