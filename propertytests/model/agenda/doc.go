// Package agenda keeps what will happen in a simulation, in the order in which it happens.
package agenda
