package main

import (
	"slices"
	"testing"
)

// TestUnseen: a package is vetted a second time if the first time has left a file out.
func TestUnseen(t *testing.T) {
	got := unseen(
		[]pkg{
			{ImportPath: "same", GoFiles: []string{"a.go"}},
			{ImportPath: "fewer", GoFiles: []string{"a.go"}},
			{ImportPath: "more", GoFiles: []string{"a.go"}, TestGoFiles: []string{"plain_test.go"}},
			{ImportPath: "alone", XTestGoFiles: []string{"a_test.go"}},
		},
		[]pkg{
			{ImportPath: "same", GoFiles: []string{"a.go"}},
			{ImportPath: "fewer", GoFiles: []string{"a.go", "b.go"}},
			{ImportPath: "more", GoFiles: []string{"a.go"}, TestGoFiles: []string{"tagged_test.go"}},
		})
	if want := []string{"more", "alone"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestVets: the first command vets this module with the tag.
func TestVets(t *testing.T) {
	t.Chdir("../..")
	steps, err := vets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) == 0 || steps[0].line != "go vet -tags realtime ./..." {
		t.Errorf("the first is not this module: %v", steps)
	}
}
