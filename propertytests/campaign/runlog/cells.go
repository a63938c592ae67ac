package runlog

import (
	"fmt"
	"strconv"
)

// parse puts the texts of one line into their places.
func parse(texts []string, cells []any) (err error) {
	if len(texts) != len(cells) {
		return fmt.Errorf("%d cells, want %d", len(texts), len(cells))
	}
	for i, text := range texts {
		switch to := cells[i].(type) {
		case *string:
			*to = text
		case *int:
			*to, err = strconv.Atoi(text)
		case *uint64:
			*to, err = strconv.ParseUint(text, 10, 64)
		default:
			err = fmt.Errorf("cell %d is a %T, want *string, *int or *uint64", i+1, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// format is what parse reads.
func format(cells []any) (texts []string) {
	for _, cell := range cells {
		switch from := cell.(type) {
		case *string:
			texts = append(texts, *from)
		case *int:
			texts = append(texts, strconv.Itoa(*from))
		case *uint64:
			texts = append(texts, strconv.FormatUint(*from, 10))
		default:
			panic(fmt.Sprintf("runlog: a cell is a %T", cell)) // parse says so first
		}
	}
	return texts
}
