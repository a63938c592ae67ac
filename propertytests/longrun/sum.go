package main

import "fmt"

// sum is what all ranges of a kind come to.
type sum struct {
	line
	stopped int // ranges that a violation has stopped, without counters: only their violations are in the sum
}

// total sums up a kind, or what is of some rules of it.
func total(all []line, what, rules string) sum {
	s := sum{line: line{what: what, rules: rules}}
	for _, l := range all {
		if l.what != what || rules != "" && l.rules != rules {
			continue
		}
		if s.last = max(s.last, l.last); s.first == 0 || l.first < s.first {
			s.first = l.first
		}
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
		rules, err := k.present()
		if err != nil {
			return err
		}
		fmt.Println(total(lines, k.name, ""))
		fmt.Println("  of the rules as they are:", total(lines, k.name, rules))
	}
	return nil
}
