// Command ages says of each record of mutants how many of the deaths in it are of the sources as they are, and which are not.
//
//	go run ./propertytests/campaign/mutants/ages
//	go run ./propertytests/campaign/mutants/ages -fail     before a release: ends with 1 if there is an older one
//	go run ./propertytests/campaign/mutants/ages -sum      how many deaths there are, and what they took
//
// The sums do not depend on the sources, so docs/verification/runs.md quotes them.
//
// Files: main.go (all of it).
package main
