package worker

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
)

// program is what the Go toolchain knows about this program: the version of its module, and the
// commit that it was built from.
var program = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	text := info.Main.Path + "@" + info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			text += " " + s.Value
		}
	}
	return text
})

// buildOf names what decodes the inputs of a worker: the program, the shape of each kind's input,
// and the keys that open sealed inputs. Workers of one build decode the same inputs.
func buildOf(shapes map[string]string, keys []string) string {
	h := sha256.New()
	for _, key := range keys {
		fmt.Fprintf(h, "key %q\n", key)
	}
	fmt.Fprintln(h, program())
	for _, kind := range slices.Sorted(maps.Keys(shapes)) {
		fmt.Fprintln(h, kind, shapes[kind])
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:6])
}
