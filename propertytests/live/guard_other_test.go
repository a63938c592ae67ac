//go:build !linux

package live_test

// A guard needs Linux: these name no variable.
const guardURL, guardedURL = "", ""

func guardian(string) int       { return 1 }
func guardedChild(string) error { return nil }
