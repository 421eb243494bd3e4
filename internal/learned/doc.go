// Package learned holds small classifiers that are trained from labelled examples: hashed features, a softmax over named classes, weights of eight
// bits in one file. Whoever uses one embeds its file, and trains it again with go generate.
//
//	model, err := learned.Train(examples, learned.Options{Classes: []string{"given", "missing"}})
//	os.WriteFile("gap.weights", model.Bytes(), 0o644)
//	…
//	model, err := learned.Load(embedded)
//	p := model.Probabilities([]learned.Feature{{Name: "first=yes", Value: 1}})
//	given := p[model.Class("given")]
//
// Guarantees:
//   - Training is reproducible to the byte on every machine: no order but that of the examples, a shuffling whose seed comes from them, no library
//     function of which a processor has its own version, and every product rounded before it is added.
//   - Probabilities are calibrated where examples are of several groups: they are divided by a temperature that was found on groups that training had not seen.
//   - Load takes any bytes: what is no file of weights is an error and never a panic. A Model may be used by many goroutines at once.
//   - HeldOut judges each example by a model that has not seen its group, which makes figures honest where a group is what one hand wrote.
package learned
