#include "engine/command_table.h"

#include <algorithm>
#include <vector>

// Rows group the programs that share an argument grammar. Sources: the programs' own manual pages; for options that run
// commands, the GTFOBins catalogue of what to look for.

namespace escrow::engine {
namespace {

/// `names` and the option lists are separated by blanks.
struct ProfileGroup {
  Role role;
  std::string_view names, value_options, write_options, run_options;
};

// clang-format off
constexpr ProfileGroup kProfileGroups[] = {
    {Role::quiet,
     "(( : [ [[ alias apropos arch basename bc bg bind break cal caller cd clear compgen complete continue dc "
     "declare dirname dirs disown dmesg echo exit export expr factor false fc fg findmnt free getconf getent "
     "getopts groups hash help history hostname htop id ifconfig info iostat ip jobs journalctl last let local "
     "locale locate logout lsblk lscpu lsmod lsof lspci lsusb man mapfile mktemp mlocate mountpoint netstat nproc "
     "numfmt pgrep plocate popd printenv printf pushd pwd read readarray readonly reset return seq set shift shopt "
     "sleep ss suspend sw_vers test times tldr top tput tr true tsort tty type typeset ulimit umask unalias uname "
     "unset uptime users uuidgen vmstat w wait whatis whereis which who whoami yes",
     "",
     "", ""},
    {Role::quiet,
     "date",
     "-d --date -f --file -r --reference -s --set",
     "", ""},
    {Role::quiet,
     "ps",
     "-p -o -u -C",
     "", ""},
    {Role::reader,
     "addr2line b2sum bat batcat bzcat c++filt cat cksum cloc cmp col colordiff column comm csvcut csvlook cut dasel "
     "delta df diffstat dir du dwarfdump exa exiftool expand eza file fmt fold getfacl getfattr glow gron gzcat "
     "hadolint hexdump htmlq iconv identify join jsonlint ldd look ls lsattr lsd md5 md5sum mdcat mediainfo mlr "
     "namei nl nm objdump od otool paste pdfinfo pdftotext pr ptx pup pygmentize readelf readlink realpath rev scc "
     "sha1sum sha224sum sha256sum sha384sum sha512sum shasum shellcheck size stat strings sum tac tidy tokei tree "
     "unexpand vdir wc xmlwf xsv xzcat yamllint zcat zless",
     "",
     "", ""},
    {Role::reader,
     "diff diff3 sdiff vimdiff",
     "-U -C -I -x --exclude --label -L -F -W --to-file --from-file -o",
     "-o --output", ""},
    {Role::reader,
     "base32 base64 basenc",
     "-w --wrap -i -o",
     "-o --output", ""},
    {Role::reader,
     "less more most",
     "-p -P",
     "", ""},
    {Role::reader,
     "xmllint xmlstarlet xsltproc",
     "--xpath --schema --output -o --shell",
     "-o --output", ""},
    {Role::reader,
     "head tail",
     "-n -c --lines --bytes -s --pid",
     "", ""},
    {Role::reader,
     "sort",
     "-k -t -o -S -T --key --field-separator --output --temporary-directory --parallel --compress-program",
     "-o --output", "--compress-program"},
    {Role::reader,
     "uniq",
     "-f -s -w",
     "", ""},
    {Role::reader,
     "xxd",
     "-l -s -c -g -b",
     "", ""},
    {Role::writer,
     "bunzip2 bzip2 compress convert csplit dos2unix dot ffmpeg gunzip gzip lessc lz4 magick mkfifo mmdc mogrify "
     "pandoc pigz plantuml qrencode rename rmdir sass sponge uncompress unix2dos unxz unzstd xz zstd",
     "-m --mode -d --date -t -r --reference -S --suffix -b -l -n -o -f",
     "", ""},
    {Role::writer,
     "mkdir",
     "-m --mode",
     "", ""},
    {Role::writer,
     "patch",
     "-p -i -d -F -B -D -o -r --input --directory --strip",
     "-o -r --output", ""},
    {Role::writer,
     "tee",
     "--output-error",
     "", ""},
    {Role::writer,
     "touch",
     "-d --date -t -r --reference",
     "", ""},
    {Role::writer, "split", "-b -l -n -C -a --bytes --lines --filter", "", "--filter"},
    {Role::copier,
     "cp gcp install ln",
     "-t --target-directory -S --suffix -m --mode -o -g --owner --group --strip-program",
     "-t --target-directory", "--strip-program"},
    {Role::mover,
     "gmv mv",
     "-t --target-directory -S --suffix",
     "-t --target-directory", ""},
    {Role::remover,
     "del grm rimraf rm shred srm trash trash-put unlink wipe",
     "-n --iterations -s --size --random-source",
     "", ""},
    {Role::mode_setter,
     "chattr chgrp chmod chown setfacl xattr",
     "-m -x --reference --from -M -X",
     "", ""},
    {Role::truncater,
     "dd",
     "",
     "", ""},
    {Role::truncater,
     "fallocate",
     "-l --length -o --offset",
     "", ""},
    {Role::truncater,
     "truncate",
     "-s --size -r --reference",
     "", ""},
    {Role::disk,
     "badblocks blkdiscard cfdisk cryptsetup diskutil fdisk format gdisk hdparm lvremove mdadm mke2fs mkfs "
     "mkfs.btrfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.fat mkfs.ntfs mkfs.vfat mkfs.xfs mkswap nvme parted pvremove "
     "sfdisk sgdisk vgremove wipefs zfs zpool",
     "-t -L -b -N --type --label",
     "", ""},
    {Role::archiver,
     "7z 7za 7zr rar zip zipnote",
     "-x -i -TT --unzip-command -n -t -b -P",
     "", "-TT --unzip-command"},
    {Role::archiver,
     "ar cpio jar unrar unzip",
     "-d -x -C -D -E -F --directory --rsh-command",
     "", "--rsh-command"},
    {Role::archiver,
     "bsdtar gtar tar",
     "-f -C -I -T -X -F -K -N -b -H -g -L -V --file --directory --use-compress-program --to-command "
     "--checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command --exclude --files-from "
     "--exclude-from --transform --xform --strip-components --owner --group --mtime --mode",
     "", "-I -F --use-compress-program --to-command --info-script --new-volume-script --rsh-command --rmt-command"},
    {Role::filter,
     "awk gawk mawk nawk",
     "-F -v -f -i -l --field-separator --assign --file --include --load",
     "", ""},
    {Role::filter,
     "gsed sed",
     "-e -f -l --expression --file",
     "", ""},
    {Role::finder,
     "fd fdfind",
     "-e -E -t -d -x -X --extension --exclude --type --max-depth",
     "", ""},
    {Role::finder,
     "find gfind",
     "",
     "", ""},
    {Role::searcher,
     "egrep fgrep grep pcregrep rgrep ugrep zgrep",
     "-e -f -m -A -B -C --include --exclude --exclude-dir --max-count --color --colour -d -D --regexp --file",
     "", ""},
    {Role::searcher,
     "fx tomlq xq yq",
     "-L --arg --argjson --slurpfile --rawfile --indent --tab -f --from-file",
     "", ""},
    {Role::searcher,
     "ack ag pt",
     "-A -B -C -G -m --ignore --ignore-dir --pager -g --type",
     "", "--pager"},
    {Role::searcher,
     "jq",
     "-L --indent -f --from-file",
     "", ""},
    {Role::searcher,
     "rg",
     "-e -f -g -t -T -m -A -B -C -j -M -r --glob --type --type-not --max-count --iglob --pre --pre-glob --regexp "
     "--file --color --max-depth -d --sort --sortr --hostname-bin --replace --context --engine --encoding -E",
     "", "--pre --hostname-bin"},
    {Role::shell,
     "ash bash csh dash fish hush ksh mksh powershell pwsh rbash rc sh tcsh yash zsh",
     "-c -o -O +o +O --init-file --rcfile -C --command",
     "", ""},
    {Role::interpreter,
     "clojure elixir erl expect ghci gnuplot groovy guile iex jrunscript jshell julia kotlin lua luajit m4 ocaml "
     "octave osascript r racket rscript sbcl scala swipl tclsh wish",
     "-e --eval -c -l -E -g -L",
     "", ""},
    {Role::interpreter,
     "babel-node deno node nodejs ts-node tsx",
     "-e --eval -p --print -r --require --import --loader --experimental-loader -C --conditions --env-file",
     "", ""},
    {Role::interpreter,
     "bpython ipython pypy python",
     "-c -m -W -X -Q",
     "", ""},
    {Role::interpreter,
     "irb ruby",
     "-e -I -r -C",
     "", ""},
    {Role::interpreter,
     "java",
     "-cp -classpath --class-path -jar -m --module -p --module-path --add-modules --add-opens --add-exports",
     "", ""},
    {Role::interpreter,
     "perl",
     "-e -E -I -M -m -x",
     "", ""},
    {Role::interpreter,
     "php",
     "-r -f -B -R -F -E -d -c -S -t -z",
     "", ""},
    {Role::wrapper,
     "! builtin busybox caffeinate catchsegv chronic command coproc dbus-run-session do eatmydata else fakeroot "
     "i386 if linux32 linux64 noglob nohup proxychains proxychains4 rlwrap setarch setsid then torify torsocks "
     "toybox unbuffer until valgrind while winpty x86_64 xvfb-run",
     "",
     "", ""},
    {Role::wrapper,
     "cross-env direnv dotenv dotenvx faketime mise nodenv pyenv rbenv",
     "-e -f -c",
     "", ""},
    {Role::wrapper,
     "chokidar concurrently entr nodemon npm-run-all run-p run-s watchexec",
     "-x --exec -e --ext -w --watch -i --ignore --delay -d",
     "", ""},
    {Role::wrapper,
     "byobu screen tmux",
     "-s -t -n -c -L -S -x -y",
     "", ""},
    {Role::wrapper,
     "cgdb gdb lldb",
     "-ex -x -p -ix -iex -o -s -ex --command --eval-command",
     "", ""},
    {Role::wrapper,
     "dtruss ltrace strace",
     "-e -o -p -s -u -E -S -P -I",
     "-o", ""},
    {Role::wrapper,
     "gstdbuf stdbuf",
     "-i -o -e --input --output --error",
     "", ""},
    {Role::wrapper,
     "gtimeout timeout",
     "-k --kill-after -s --signal",
     "", ""},
    {Role::wrapper,
     "gxargs xargs",
     "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --replace --max-lines --max-chars",
     "", ""},
    {Role::wrapper,
     "chrt",
     "-T -P -D",
     "", ""},
    {Role::wrapper,
     "exec",
     "-a",
     "", ""},
    {Role::wrapper,
     "flock",
     "-w --timeout -E -c --command",
     "", ""},
    {Role::wrapper,
     "hyperfine",
     "-w -r -m -M -n -p -c --warmup --runs --prepare --cleanup --export-json --export-markdown -L",
     "", ""},
    {Role::wrapper,
     "ionice",
     "-c -n -p -P -u --class --classdata",
     "", ""},
    {Role::wrapper,
     "nice",
     "-n --adjustment",
     "", ""},
    {Role::wrapper,
     "numactl",
     "-C -N -m -i -p",
     "", ""},
    {Role::wrapper,
     "parallel",
     "-j --jobs -a --arg-file -I --colsep -S --sshlogin -n -N -L --joblog --results",
     "", ""},
    {Role::wrapper,
     "perf",
     "-e -o -p",
     "-o", ""},
    {Role::wrapper,
     "script",
     "-c --command -O -I -B -T --log-out",
     "", ""},
    {Role::wrapper,
     "systemd-run",
     "-u -p -E --unit --property --on-calendar --on-active --uid --gid --slice --working-directory",
     "", ""},
    {Role::wrapper,
     "taskset",
     "-c",
     "", ""},
    {Role::wrapper,
     "time",
     "-f -o --format --output",
     "-o --output", ""},
    {Role::wrapper,
     "watch",
     "-n --interval",
     "", ""},
    {Role::privileged,
     "bwrap capsh crun ctr firejail machinectl nsjail proot runc setpriv systemd-nspawn",
     "",
     "", ""},
    {Role::privileged,
     "doas gosu su-exec sudo",
     "-u -g -h -p -C -T -r -t -D -R -U --user --group --host --prompt --chdir --chroot",
     "", ""},
    {Role::privileged,
     "runuser su",
     "-c --command -s --shell -g -G -w --session-command",
     "", ""},
    {Role::privileged,
     "chroot",
     "--userspec --groups",
     "", ""},
    {Role::privileged,
     "nsenter",
     "-t -S -G --target --setuid --setgid",
     "", ""},
    {Role::privileged,
     "pkexec",
     "--user",
     "", ""},
    {Role::privileged,
     "unshare",
     "-R -w -S -G --root --wd --setuid --setgid",
     "", ""},
    {Role::build,
     "aclocal air ansible-lint ant as asciidoctor astro autoconf automake autopep8 autoreconf ava babel bandit "
     "basedpyright bats bazel bazelisk bibtex biome black boot brakeman buck2 buf c8 cargo-clippy cargo-fmt "
     "cargo-nextest cargo-tarpaulin ccache checkstyle cl clang-format clang-tidy clippy-driver codespell "
     "commitlint configure coverage cppcheck cpplint createdb credo crystal ctest cypress distcc djlint dmd "
     "doxygen electron-builder eleventy elm elm-test ent esbuild eslint flake8 flatc fourmolu gcov gcovr genhtml "
     "ghc gleam gn gofmt goimports golangci-lint gold golint gotestsum graphql-codegen grunt gulp hlint hpack hugo "
     "include-what-you-use initdb isort iwyu javac javadoc jekyll jest jsdoc jupyter just karma kcov kotlinc "
     "ktlint latexmk lcov ld ld.lld lein lerna libtool lint-staged lld lualatex markdownlint markdownlint-cli2 "
     "mdbook mdl meson minitest mkdocs mocha mockgen mypy nasm ncc next ng nim ninja nox nuxt nx nyc objcopy "
     "ormolu oxlint pants parcel pdflatex pest php-cs-fixer phpcs phpstan phpunit pkg playwright prettier protoc "
     "psalm purs py.test pycodestyle pydocstyle pyflakes pylint pyre pyright pytest rake ranlib rebar3 reflex "
     "remix rescript rollup rspec rubocop ruff rustc rustfmt samu sbt scalac sccache scons shfmt shunit2 "
     "size-limit sorbet spago sphinx-build spotbugs sqlc sqlfluff srb standard staticcheck storybook stringer "
     "strip stylelint svelte-kit swag swc swiftc swiftformat swiftlint task tauri tectonic terraform-docs tflint "
     "thrift tox trunk tsc tslint tsup turbo ty typedoc typos unittest vale vite vitest vue-cli-service vue-tsc "
     "vulture waf wasm-bindgen wasm-pack webpack wire xcodebuild xcpretty xcrun xelatex xmake xo yapf yasm zig "
     "zola",
     "",
     "", ""},
    {Role::build,
     "caddy daphne django-admin flask gunicorn http-server hypercorn json-server live-server nginx php-s puma "
     "rackup serve streamlit thin unicorn uvicorn webpack-dev-server",
     "-p --port -h --host -b --bind",
     "", ""},
    {Role::build,
     "c++ cc clang clang++ g++ gcc",
     "-o -I -L -D -U -l -x -MF -MT -include -isystem -wrapper -T",
     "-o", "-wrapper"},
    {Role::build,
     "bmake gmake make remake",
     "-C -f -j -l -o -W -I --directory --file --makefile --eval --jobs -E",
     "", ""},
    {Role::build,
     "cmake",
     "-S -B -G -D -P -C -E -t -j --build --target --install --preset --toolchain -A -T --config --parallel",
     "", ""},
    {Role::vcs,
     "git",
     "-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix",
     "", ""},
    {Role::fetcher,
     "aria2c axel elinks fetch gallery-dl http httpie https httrack links lynx w3m xh youtube-dl yt-dlp",
     "-o --output -O -d --dir -x -s -a --auth --session -f --format",
     "-o --output", ""},
    {Role::fetcher,
     "wget wget2",
     "-O -o -a -P -i -U -t -T -e -w -Q -A -R -D -I -X -l -B --output-document --output-file --directory-prefix "
     "--input-file --user-agent --tries --timeout --header --post-data --post-file --body-data --body-file "
     "--method --referer --user --password --wait --quota --accept --reject --level --use-askpass --execute "
     "--load-cookies --ca-certificate",
     "-O --output-document -o -a --output-file --append-output", "--use-askpass"},
    {Role::fetcher,
     "curl",
     "-X -d -F -T -o -H -A -e -u -b -c -x -K -m -w -y -Y -z -C -E -Q -r -t -U -P -D --request --data --data-binary "
     "--data-raw --data-urlencode --data-ascii --form --form-string --upload-file --output --output-dir --header "
     "--user-agent --referer --user --cookie --cookie-jar --proxy --config --max-time --write-out "
     "--connect-timeout --retry --retry-delay --cert --key --cacert --capath --resolve --connect-to --unix-socket "
     "--json --url --range --limit-rate --max-redirs --proxy-user --trace --trace-ascii --dump-header --stderr "
     "--interface --dns-servers --netrc-file --engine --max-filesize",
     "-o --output -c --cookie-jar -D --dump-header --trace --trace-ascii --stderr", ""},
    {Role::remote,
     "bore chisel cloudflared croc frpc frps localtunnel lt magic-wormhole ngrok openvpn serveo ssh-copy-id "
     "tailscale transfer.sh wg wg-quick wormhole",
     "-i -p",
     "", ""},
    {Role::remote,
     "ftp lftp ncftp rexec rlogin rsh telnet tftp",
     "-e -u -p -c -f",
     "", ""},
    {Role::remote,
     "mail mailx msmtp mutt sendmail ssmtp swaks",
     "-s -a -A -c -b -r -f",
     "", ""},
    {Role::remote,
     "nc ncat netcat socat",
     "-e -c -p -s -w -q -x -X -i -O -P -T --exec --sh-exec",
     "", "-e -c --exec --sh-exec"},
    {Role::remote,
     "autossh mosh ssh",
     "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
     "", ""},
    {Role::remote,
     "rclone",
     "--config --include --exclude",
     "", ""},
    {Role::remote,
     "rsync",
     "-e --rsh --exclude --include --files-from --exclude-from --rsync-path --bwlimit --port --password-file "
     "--log-file -f --filter --out-format --link-dest --compare-dest",
     "", "-e --rsh"},
    {Role::remote,
     "scp",
     "-c -F -i -J -l -o -P -S -D -X",
     "", ""},
    {Role::remote,
     "sftp",
     "-b -B -c -D -F -i -J -l -o -P -R -S -s",
     "", ""},
    {Role::lookup,
     "arp arping delv dig dog drill fping host hping3 kdig masscan mtr ngrep nmap nslookup ping ping6 tcpdump "
     "tracepath traceroute tshark whois",
     "-c -p -t -x -q -i -w -W -s -f -k",
     "", ""},
    {Role::package,
     "add-apt-repository apk apm apt apt-cache apt-get apt-key aptitude artisan asdf brew bundle bundler cabal "
     "carthage choco code codium composer conan cpan cpanm cursor dart dnf dotnet dpkg dpkg-query drush dub elan "
     "emerge flatpak flutter gem ghcup gradle gradlew guix helmfile hex husky jabba krew lefthook luarocks mas "
     "microdnf mix nimble nix nix-build nix-channel nix-env nix-shell nuget opam pacman paru pear pecl php-artisan "
     "pod port pre-commit pub rails rbenv-install rpm rustup scoop sdk shards snap stack steampipe swift symfony "
     "tfenv vcpkg winget wp yay yum zypper",
     "-C -f -g --file --path --rid -p -o --output -c --configuration -s --source --version --dir -n -D -P -pl "
     "--prefix --cache-folder",
     "", ""},
    {Role::package,
     "conda easy_install flit hatch mamba micromamba pdm pip pipenv pipx poetry rye twine uv uvx virtualenv",
     "-r -c -e -i -t --requirement --constraint --index-url --extra-index-url --trusted-host --find-links -f "
     "--target --python -p --with --from --directory --project -n --name --group --prefix --cache-dir --proxy "
     "--timeout",
     "", ""},
    {Role::package,
     "bun corepack fnm n npm nvm pnpm volta yarn yarnpkg",
     "-w --workspace --prefix -C --dir --filter -F --cwd --registry --tag -p --package --userconfig -c --call "
     "--script-shell --otp",
     "", ""},
    {Role::package,
     "bunx npx pnpx",
     "-p --package -c --call --registry",
     "", ""},
    {Role::package,
     "mvn mvnw",
     "-f -pl -P -s -D -T -rf --file --projects",
     "", ""},
    {Role::package,
     "cargo",
     "-p --package --features -F --manifest-path --target --target-dir -j --jobs --bin --example --test --bench "
     "--config --profile --git --branch --rev --tag --path --registry --index -Z --root --color --message-format",
     "", ""},
    {Role::package,
     "go",
     "-C -o -run -tags -ldflags -count -timeout -coverprofile -bench -mod -p -exec -toolexec -gcflags -modfile "
     "-cpuprofile -memprofile -parallel -fuzz -fuzztime",
     "", ""},
    {Role::cloud,
     "amplify ansible ansible-playbook ansible-vault argocd aws az b2 bq ccloud cdk circleci confluent consul "
     "datadog-ci doctl eb eksctl firebase flux fly flyctl gcloud gh glab gsutil hcloud helm heroku hub ibmcloud "
     "istioctl jira k9s kubectl kustomize linode-cli mc netlify newrelic nomad oc oci packer prisma pulumi railway "
     "render rpk s3cmd sam sentry-cli serverless slack sls stern stripe supabase surge terraform terragrunt tofu "
     "travis twilio vercel wrangler",
     "-n --namespace -f --filename -o --output -c --context --profile --region --project -p -R --repo -l "
     "--selector --values --set --kubeconfig -var -var-file -target --stack-name --query -t --title -b --body "
     "--json --jq -q -X --method -H --header -F --field --raw-field --input --limit -L --state -s --label",
     "", ""},
    {Role::container,
     "buildah buildctl colima crictl docker docker-compose k3d kind lima minikube nerdctl podman podman-compose "
     "skopeo vagrant",
     "-f --file -t --tag -p --publish -v --volume --mount -e --env --env-file --name --network --net -w --workdir "
     "-u --user --entrypoint --platform --pid --ipc --uts --userns --cap-add --security-opt --device --restart -H "
     "--host -c --context --build-arg --target -m --memory --cpus --label -l --log-driver --add-host --hostname -h "
     "--tmpfs --gpus",
     "", ""},
    {Role::database,
     "alembic clickhouse-client cqlsh createuser cypher-shell dropdb dropuser duckdb etcdctl flyway influx "
     "liquibase litecli mariadb mongo mongodump mongorestore mongosh mycli mysql mysqladmin mysqldump neo4j "
     "pg_dump pg_dumpall pg_restore pgcli psql redis-cli sqlcmd sqlite sqlite3 usql",
     "-c -e -f -h -U -d -p -P -u -o -D --command --execute --file --host --username --dbname --port --user "
     "--database --eval -cmd -n --password",
     "-o --output", ""},
    {Role::service,
     "chkconfig forever initctl launchctl loginctl pm2 rc-service rc-update s6-rc service supervisorctl sv "
     "systemctl update-rc.d",
     "-u -t --type --state -p --property -H -M",
     "", ""},
    {Role::scheduler,
     "at atq atrm batch",
     "-f -q -t",
     "", ""},
    {Role::scheduler,
     "crontab",
     "-u",
     "", ""},
    {Role::process,
     "fuser kill killall killall5 pkill renice skill snice xkill",
     "-s -n -u -U -g -P -t --signal",
     "", ""},
    {Role::power,
     "halt init pm-suspend poweroff reboot rtcwake shutdown telinit",
     "",
     "", ""},
    {Role::kernel,
     "aa-complain aa-disable aa-teardown adduser apparmor_parser auditctl bpftool bpftrace chfn chpasswd chsh "
     "deluser depmod dmsetup dpkg-reconfigure fusermount fusermount3 gpasswd groupadd groupdel hostnamectl hwclock "
     "insmod kexec ldconfig localectl losetup mknod modprobe mount newgidmap newgrp newuidmap passwd pivot_root "
     "rmmod setcap setenforce setuidgid sg swapoff swapon sysctl timedatectl umount update-alternatives useradd "
     "userdel usermod vigr vipw visudo",
     "-t -o -L -U",
     "", ""},
    {Role::firewall,
     "ebtables firewall-cmd ip6tables ipset iptables iptables-restore nft pfctl semanage setsebool ufw",
     "",
     "", ""},
    {Role::vault,
     "age age-keygen bw certbot cfssl chamber credstash doppler gpg gpg2 infisical keyring keytool kwallet-query "
     "kwalletcli lpass mkcert op pass secret-tool security sops ssh-add ssh-agent ssh-keygen ssh-keyscan step "
     "vault",
     "-r -o -f -t -C -N -b -u -s -a --output --recipient --keyring -i",
     "-o --output", ""},
    {Role::vault,
     "openssl",
     "-in -out -key -cert -connect -servername -pass -passin -passout -k -K -iv -inkey -CAfile -days -subj -newkey "
     "-keyout -config -inform -outform",
     "-out -keyout", ""},
    {Role::editor,
     "emacs emacsclient gedit gvim helix hx jed joe kak kate mcedit micro nano nvim pico subl vi view "
     "vim vimx",
     "-c --cmd -S -s -u -i -w -T -e --eval -eval -execute -l --load -load -f --funcall -funcall",
     "", ""},
    {Role::editor,
     "ed ex red",
     "-c -p --prompt",
     "", ""},
    {Role::environment,
     "env",
     "-u --unset -C --chdir -S --split-string",
     "", ""},
    {Role::guard,
     "cordon escrow",
     "",
     "", ""},
    {Role::clipboard,
     "notify-send open osd pbcopy pbpaste say start wl-copy wl-paste xclip xdg-open xsel",
     "",
     "", ""},
    {Role::quiet,
     "acpi banner blkid btm btop cowsay dircolors dmidecode fastfetch figlet fortune getopt glances hostid "
     "infocmp inxi iotop jot logname lolcat lsb_release lsipc lslocks lsns neofetch numastat nvidia-smi nvtop "
     "pathchk pidof pmap procs pstree pwdx sensors shuf stty tabs xdpyinfo zoxide",
     "",
     "", ""},
    {Role::reader,
     "ansi2txt antiword aspell b3sum bloaty bzdiff catdoc chardet checksec csvformat csvgrep csvjoin csvsort "
     "csvstat difft duf dust dyff enca exiv2 ffprobe godoc hd highlight hunspell icdiff jid jless "
     "llvm-dwarfdump llvm-nm llvm-objdump llvm-readelf llvm-size llvm-strings lnav lz4cat man2html mdless meld "
     "multitail ncdu pdfgrep perldoc pod2text pydoc rhash ri sha3sum soxi tailf unrtf wdiff xxh64sum xxhsum "
     "xzdiff zcmp zdiff zipgrep zipinfo zstdcat",
     "",
     "", ""},
    {Role::writer,
     "brotli chrpath csvjson ctags cwebp ditto dsymutil etags genisoimage gs gtags iconutil inkscape "
     "install_name_tool jpegoptim lipo llvm-strip lzma lzop mkisofs mksquashfs mmv msgfmt msgmerge optipng "
     "patchelf pdftk pdftoppm plutil pngquant potrace qpdf rsvg-convert sips sox svgo unlzma unsquashfs upx "
     "wasm-opt wasm2wat wat2wasm xgettext xorriso zopfli",
     "-o --output -f -l -d -q",
     "", ""},
    {Role::searcher,
     "ast-grep bzgrep gojq jaq pcre2grep sift xzgrep zegrep zfgrep",
     "-e -f -A -B -C -m --arg --argjson --slurpfile --indent",
     "", ""},
    {Role::build,
     "actionlint alex ameba antora api-extractor attw autoflake axe biber bleep bundlesize busted cabal-fmt "
     "cargo-fuzz cbmc changeset check-manifest checkov chktex clang-apply-replacements clang-check clang-query "
     "clangd cmake-format cmake-lint cobalt conftest cordova coursier cspell depcheck dependency-cruiser detekt "
     "dfmt dialyzer docformatter docusaurus dprint dune elixirc eradicate erlc eslint_d fastlane flawfinder "
     "gatsby gdc gersemi gitleaks google-java-format grcov hexo htmlhint infer interrogate ionic iwyu_tool kics "
     "knip ktfmt kubeconform kubeval lage ldc2 llvm-cov llvm-profdata luacheck madge makeindex middleman mill "
     "monkeytype moon mutmut nikola nimpretty ocamlc ocamlfind ocamlformat ocamlopt opa pa11y pdoc pelican "
     "periphery pmd prettierd proselint prospector publint pylama pyroma pytype pyupgrade qunit radon "
     "remark rsbuild rspack run-clang-tidy rush scalafix scalafmt scan-build selene sourcery sphinx-apidoc "
     "sphinx-autobuild splint stylish-haskell stylua swiftgen syncpack tap taplo tape testcafe textlint tfsec "
     "tsd tshy tuist typst unbuild unimport uvu vitepress vuepress wails weeder wily wireit write-good xcodegen "
     "xctest yamlfmt zizmor",
     "",
     "", ""},
    {Role::interpreter,
     "bb clisp clj coqc coqtop ecl fennel gforth groovysh gst guile3 hhvm idris2 janet jbang jruby lean maxima "
     "mruby nbb ocamlrun perl6 php8 picolisp raku runghc runhaskell sage scala-cli scheme tcl truffleruby utop",
     "-e --eval -c -l",
     "", ""},
    {Role::interpreter,
     "wasmtime wasmer wasmedge",
     "",
     "", ""},
    {Role::container,
     "act dagger devcontainer devspace earthly garden incus kaniko ko kubeadm limactl lxc multipass okteto pack "
     "qemu-img qemu-system-x86_64 skaffold telepresence tilt virsh",
     "-f --file -n --namespace",
     "", ""},
    {Role::cloud,
     "argo aws-vault cdktf cf cilium civo copilot dvc ecs-cli exo fastly gitlab-runner grype hf huggingface-cli "
     "infracost kaggle kn kubectx kubens kubeseal linkerd mlflow modal neonctl ntl odo ollama openstack pscale "
     "rosa s5cmd saml2aws shopify sst syft tea terramate tkn trivy turso upctl velero vultr-cli wandb",
     "-n --namespace -f -o --output -p --profile --region --project",
     "", ""},
    {Role::package,
     "ansible-galaxy raco cargo-binstall chezmoi gobrew gvm jenv macports ni nala pip-audit pip-compile pip-sync "
     "pixi pkg_add pkgin pkgx safety spack swupd tfswitch topgrade xbps-install",
     "-r -c -f -n --name -p --python",
     "", ""},
    {Role::lookup,
     "ab autocannon bombardier hey lychee oha vegeta wrk",
     "-n -c -d -t -z -m -H",
     "", ""},
    {Role::evaluator,
     ". eval source trap",
     "",
     "", ""},
};
// clang-format on

std::vector<CommandProfile> index_of_profiles() {
  std::vector<CommandProfile> rows;
  rows.reserve(1500);
  for (const ProfileGroup& group : kProfileGroups) {
    std::size_t at = 0;
    while (at < group.names.size()) {
      const std::size_t end = std::min(group.names.find(' ', at), group.names.size());
      rows.push_back(
          {group.names.substr(at, end - at), group.role, group.value_options, group.write_options, group.run_options});
      at = end + 1;
    }
  }
  std::sort(rows.begin(), rows.end(), [](const CommandProfile& a, const CommandProfile& b) { return a.name < b.name; });
  return rows;
}

}  // namespace

std::span<const CommandProfile> command_profiles() {
  static const std::vector<CommandProfile> rows = index_of_profiles();
  return rows;
}

}  // namespace escrow::engine
