package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// MaxBytesFlag defines the flag for the most bytes of a stream that is created.
func MaxBytesFlag(cmd *cobra.Command, n *int64) {
	cmd.Flags().Var((*bytesValue)(n), "max-bytes", "the most bytes of each stream, such as 64MiB (default no bound)")
}

// leastBytes is the smallest bound of a stream.
const leastBytes = 1 << 20

// units are the factors of a number of bytes. A unit comes before those that are its ends.
var units = []struct {
	name   string
	factor int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
}

var errBytes = errors.New("use a number of bytes such as 67108864, 64MiB or 1GB")

// bytesValue is a number of bytes. 0 means no bound, and cannot be given.
type bytesValue int64

func (b *bytesValue) Type() string { return "bytes" }

func (b *bytesValue) String() string {
	if *b == 0 {
		return "" // the help shows no default
	}
	return strconv.FormatInt(int64(*b), 10)
}

func (b *bytesValue) Set(text string) error {
	number, factor := text, int64(1)
	for _, u := range units {
		if before, ok := strings.CutSuffix(text, u.name); ok {
			number, factor = before, u.factor
			break
		}
	}
	n, err := strconv.ParseUint(number, 10, 63)
	switch {
	case err != nil || int64(n) > math.MaxInt64/factor:
		return errBytes
	case int64(n)*factor < leastBytes:
		return fmt.Errorf("use %d (1MiB) or more", leastBytes)
	}
	*b = bytesValue(int64(n) * factor)
	return nil
}
