package main

import "fmt"

// sum is what all ranges of a kind come to.
type sum struct {
	line
	stopped int // ranges that a violation has stopped, without counters: only their violations are in the sum
}

func total(all []line, what string) sum {
	s := sum{line: line{what: what, first: 1}}
	for _, l := range all {
		if l.what != what {
			continue
		}
		s.last = max(s.last, l.last)
		s.violations += l.violations
		if l.violations > 0 && l.terms == 0 {
			s.stopped++
			continue
		}
		s.schedules += l.schedules
		s.seconds += l.seconds
		s.faults += l.faults
		s.terms += l.terms
	}
	return s
}

func (s sum) String() string {
	text := s.line.String()
	if s.stopped > 0 {
		text += fmt.Sprintf("; %d ranges stopped by a violation are not counted", s.stopped)
	}
	return text
}

// summed says what the file comes to.
func summed(path string) error {
	lines, err := table(path).Read()
	if err != nil {
		return err
	}
	for _, k := range kinds {
		fmt.Println(total(lines, k.name))
	}
	return nil
}
