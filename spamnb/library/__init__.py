"""Mail and text for programs that learn: lists of messages in, matrices, models and probabilities out.

given       what a program gives as messages and labels → raw mail, names of classes
cores       arrays made of messages on all cores
rows        messages → rows of a sparse matrix, by their tokens' hashes
vectorizer  MailVectorizer and HashingMailVectorizer: in the place of scikit-learn's CountVectorizer
model       a model file in memory, which answers for many messages
spam        SpamClassifier: the command line's model as an estimator
folds       MessageFolds: the folds of ``spamnb evaluate``

The interface is scikit-learn's, which is not imported.
"""
