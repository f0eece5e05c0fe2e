# SpamAssassin's Bayes and nothing else of it, over a list of files: "label path" a line on standard input.
#     perl spamassassin_bayes.pl train|score|stream FOLDER
# score and stream print the probability of spam of each message, .5 where it has none to give.
use strict;
use warnings;
use Mail::SpamAssassin;

my ($what, $folder) = @ARGV;
my $assassin = Mail::SpamAssassin->new({
    local_tests_only => 1,
    dont_copy_prefs  => 1,
    require_rules    => 0,
    config_text      => <<"CONFIG",
loadplugin Mail::SpamAssassin::Plugin::Check
loadplugin Mail::SpamAssassin::Plugin::Bayes
use_bayes 1
bayes_path $folder/bayes
bayes_auto_learn 0
bayes_auto_expire 0
body BAYES_LOW eval:check_bayes('0.00', '0.50')
body BAYES_HIGH eval:check_bayes('0.50', '1.00')
tflags BAYES_LOW learn
tflags BAYES_HIGH learn
score BAYES_LOW 1
score BAYES_HIGH 1
CONFIG
});
$assassin->init(1);
$assassin->init_learner({ learn_to_journal => $what eq 'train' });
$| = 1;

while (my $line = <STDIN>) {
    chomp $line;
    my ($label, $path) = split / /, $line, 2;
    open my $file, '<:raw', $path or die "$path: $!\n";
    my @lines = <$file>;
    close $file;
    if ($what ne 'train') {
        my $mail = $assassin->parse([@lines]);
        my $status = $assassin->check($mail);
        my $score = $status->{bayes_score};
        printf "%.17g\n", defined $score ? $score : 0.5;
        $status->finish;
        $mail->finish;
    }
    if ($what ne 'score') {
        my $mail = $assassin->parse([@lines]);
        my $status = $assassin->learn($mail, undef, $label eq 'spam' ? 1 : 0, 0);
        $status->finish;
        $mail->finish;
    }
}
$assassin->rebuild_learner_caches if $what eq 'train';
$assassin->finish_learner;
$assassin->finish;
