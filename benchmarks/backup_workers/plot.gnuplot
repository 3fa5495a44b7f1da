# Draws the table of backup_workers as docs/pictures/backup_workers.svg:
#
#   gnuplot -c benchmarks/backup_workers/plot.gnuplot TABLE > docs/pictures/backup_workers.svg
set terminal svg size 720,640 font 'sans-serif,13' background 'white' noenhanced
set datafile separator ','
set linetype 1 linecolor '#1f6fb4' linewidth 1.5 pointtype 7 pointsize 0.6
set linetype 2 linecolor '#b3401a' linewidth 1.5 pointtype 7 pointsize 0.6
set grid linecolor '#cccccc' linetype 1 linewidth 0.5
set border 3
set tics nomirror out
set format '%g'
set lmargin 9
set rmargin 3
set key tmargin right
set xrange [0:*]
set yrange [0:*]
set xlabel 'backup workers'
set multiplot layout 2,1 title '200 simulated workers: throughput against backup workers'
set ylabel 'gradients/s'
plot ARG1 using 'backups':'gradients_per_s' with linespoints linetype 1 title 'gradients used'
set ylabel 'updates/s'
plot ARG1 using 'backups':'updates_per_s' with linespoints linetype 2 title 'updates'
unset multiplot
