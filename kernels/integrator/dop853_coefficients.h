// The coefficients of DOP853: the explicit Runge-Kutta method of order 8 by Dormand and Prince, with error
// estimates of orders 5 and 3 and an interpolant of order 7. Source: E. Hairer, S. P. Norsett, G. Wanner,
// Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, sections II.5, II.6, program DOP853.
//
// One step of size h from (t, y), stages counted from 0:
//
//   k_i = f(t + c_i h, y + h sum_j a_ij k_j),   i = 0..11
//   y(t + h) = y + h sum_j b_j k_j
//   k_12 = f(t + h, y(t + h)), the first stage of the next step
//   k_13, k_14, k_15 like k_i: needed for the interpolant only.
//
// Error. e5 = sum_j error5_j k_j and e3 = sum_j error3_j k_j have n components. In units of the tolerance,
// s = atol + rtol |y|, let E5 = sum (e5 / s)^2 and E3 = sum (e3 / s)^2. Then
//
//   err = |h| E5 / sqrt(n (E5 + third_order_share E3)),   0 when both are 0.
//
// E5 is O(h^10) and E3 is O(h^6), so err goes like h^8 and the next step is 0.9 h err^(-1/8), within bounds.
// Neither estimate alone would do: both are of far lower order than the method, and e5 may vanish by chance.
//
// Where e5 changes its sign along the motion, err vanishes with its square and says nothing about the error:
// of 20000 integrals of 1/(0.02 + r^2) along straight flights 13 ended beyond 30 tolerances, the worst at
// 3000. There e3 still shows how far the step reaches: if the terms of the power series fall by a factor rho
// from one order to the next, h e3 is of the size rho^4 |y|, and the error of a method of order eight at most
// of the size rho^8 |y| = (h e3)^2 / |y|. In units of the tolerance, with |y| = s / rtol,
//
//   err >= least_share rtol h^2 E3 / n.
//
// With least_share = 0.01 none of these integrals is beyond 3 tolerances. In ordinary steps the published
// estimate is the larger one: six of ten studies measured take the same steps as without the bound, the
// others as many to 0.2 %. 0.001 left three integrals beyond 30 tolerances; 0.1 costs up to a seventh more steps. A
// second estimate of order 6 (the twelve stages have exactly one, with weights at stages 0 and 5 to 10)
// removes these valleys too, but needs a further sum over the stages.
//
// Interpolant. With x in [0, 1] the fraction of the step and delta = y(t + h) - y:
//
//   r0 = delta,  r1 = h k_0 - delta,  r2 = 2 delta - h (k_0 + k_12),  r_(3+m) = h sum_j d_mj k_j for m = 0..3
//   y(t + x h) = y + x (r0 + (1-x) (r1 + x (r2 + (1-x) (r3 + x (r4 + (1-x) (r5 + x r6))))))
//
// It matches values and slopes at both ends.
//
// Indices are meant to be constants, so that the tables become literals in the code. Many entries are zero,
// and a compiler may not drop 0 * k (k could be infinite): callers skip them, if constexpr (dop853::a(i, j)
// != 0). Inside a kernel read an entry as constexpr double w = dop853::a(i, j): then no table reaches the
// device.
#pragma once

#include "kernels/base/portable.h"

namespace zwang::dop853 {

constexpr int order = 8;
constexpr int stages = 12;           // of a step
constexpr int extended_stages = 16;  // with the end of the step and the three of the interpolant
constexpr int interpolant_rows = 4;  // r3..r6
constexpr double third_order_share = 0.01;
constexpr double least_share = 0.01;

// Position of a stage as a fraction of the step, i = 0..15.
ZWANG_CONSTANT constexpr double c(int i) {
  constexpr double table[extended_stages] = {0,
                                             0.526001519587677318785587544488e-01,
                                             0.789002279381515978178381316732e-01,
                                             0.118350341907227396726757197510,
                                             0.281649658092772603273242802490,
                                             0.333333333333333333333333333333,
                                             0.25,
                                             0.307692307692307692307692307692,
                                             0.651282051282051282051282051282,
                                             0.6,
                                             0.857142857142857142857142857142,
                                             1.0,
                                             1.0,
                                             0.1,
                                             0.2,
                                             0.777777777777777777777777777778};
  return table[i];
}

// Row i of the method, i = 0..15, j < i. Row 12 holds the weights of the step itself.
ZWANG_CONSTANT constexpr double a(int i, int j) {
  constexpr double table[extended_stages][extended_stages] = {
      {0},
      {5.26001519587677318785587544488e-2},
      {1.97250569845378994544595329183e-2, 5.91751709536136983633785987549e-2},
      {2.95875854768068491816892993775e-2, 0, 8.87627564304205475450678981324e-2},
      {2.41365134159266685502369798665e-1, 0, -8.84549479328286085344864962717e-1,
       9.24834003261792003115737966543e-1},
      {3.7037037037037037037037037037e-2, 0, 0, 1.70828608729473871279604482173e-1,
       1.25467687566822425016691814123e-1},
      {3.7109375e-2, 0, 0, 1.70252211019544039314978060272e-1, 6.02165389804559606850219397283e-2,
       -1.7578125e-2},
      {3.70920001185047927108779319836e-2, 0, 0, 1.70383925712239993810214054705e-1,
       1.07262030446373284651809199168e-1, -1.53194377486244017527936158236e-2,
       8.27378916381402288758473766002e-3},
      {6.24110958716075717114429577812e-1, 0, 0, -3.36089262944694129406857109825,
       -8.68219346841726006818189891453e-1, 2.75920996994467083049415600797e1,
       2.01540675504778934086186788979e1, -4.34898841810699588477366255144e1},
      {4.77662536438264365890433908527e-1, 0, 0, -2.48811461997166764192642586468,
       -5.90290826836842996371446475743e-1, 2.12300514481811942347288949897e1,
       1.52792336328824235832596922938e1, -3.32882109689848629194453265587e1,
       -2.03312017085086261358222928593e-2},
      {-9.3714243008598732571704021658e-1, 0, 0, 5.18637242884406370830023853209,
       1.09143734899672957818500254654, -8.14978701074692612513997267357, -1.85200656599969598641566180701e1,
       2.27394870993505042818970056734e1, 2.49360555267965238987089396762, -3.0467644718982195003823669022},
      {2.27331014751653820792359768449, 0, 0, -1.05344954667372501984066689879e1,
       -2.00087205822486249909675718444, -1.79589318631187989172765950534e1,
       2.79488845294199600508499808837e1, -2.85899827713502369474065508674, -8.87285693353062954433549289258,
       1.23605671757943030647266201528e1, 6.43392746015763530355970484046e-1},
      {5.42937341165687622380535766363e-2, 0, 0, 0, 0, 4.45031289275240888144113950566,
       1.89151789931450038304281599044, -5.8012039600105847814672114227, 3.1116436695781989440891606237e-1,
       -1.52160949662516078556178806805e-1, 2.01365400804030348374776537501e-1,
       4.47106157277725905176885569043e-2},
      {5.61675022830479523392909219681e-2, 0, 0, 0, 0, 0, 2.53500210216624811088794765333e-1,
       -2.46239037470802489917441475441e-1, -1.24191423263816360469010140626e-1,
       1.5329179827876569731206322685e-1, 8.20105229563468988491666602057e-3,
       7.56789766054569976138603589584e-3, -8.298e-3},
      {3.18346481635021405060768473261e-2, 0, 0, 0, 0, 2.83009096723667755288322961402e-2,
       5.35419883074385676223797384372e-2, -5.49237485713909884646569340306e-2, 0, 0,
       -1.08347328697249322858509316994e-4, 3.82571090835658412954920192323e-4,
       -3.40465008687404560802977114492e-4, 1.41312443674632500278074618366e-1},
      {-4.28896301583791923408573538692e-1, 0, 0, 0, 0, -4.69762141536116384314449447206,
       7.68342119606259904184240953878, 4.06898981839711007970213554331, 3.56727187455281109270669543021e-1,
       0, 0, 0, -1.39902416515901462129418009734e-3, 2.9475147891527723389556272149,
       -9.15095847217987001081870187138}};
  return table[i][j];
}

// The weights of the step, j = 0..11.
ZWANG_CONSTANT constexpr double b(int j) { return a(stages, j); }

// The step's weights minus those of an embedded method of order 5, j = 0..11.
ZWANG_CONSTANT constexpr double error5(int j) {
  constexpr double table[stages] = {0.1312004499419488073250102996e-1,
                                    0,
                                    0,
                                    0,
                                    0,
                                    -0.1225156446376204440720569753e1,
                                    -0.4957589496572501915214079952,
                                    0.1664377182454986536961530415e1,
                                    -0.3503288487499736816886487290,
                                    0.3341791187130174790297318841,
                                    0.8192320648511571246570742613e-1,
                                    -0.2235530786388629525884427845e-1};
  return table[j];
}

// The step's weights minus those of an embedded method of order 3, j = 0..11.
ZWANG_CONSTANT constexpr double error3(int j) {
  constexpr double third[stages] = {
      0.244094488188976377952755905512,   0, 0, 0, 0, 0, 0, 0, 0.733846688281611857341361741547, 0, 0,
      0.220588235294117647058823529412e-1};
  return b(j) - third[j];
}

// Row m of the interpolant, m = 0..3, j = 0..15.
ZWANG_CONSTANT constexpr double d(int m, int j) {
  constexpr double table[interpolant_rows][extended_stages] = {
      {-0.84289382761090128651353491142e1, 0, 0, 0, 0, 0.56671495351937776962531783590,
       -0.30689499459498916912797304727e1, 0.23846676565120698287728149680e1,
       0.21170345824450282767155149946e1, -0.87139158377797299206789907490, 0.22404374302607882758541771650e1,
       0.63157877876946881815570249290, -0.88990336451333310820698117400e-1,
       0.18148505520854727256656404962e2, -0.91946323924783554000451984436e1,
       -0.44360363875948939664310572000e1},
      {0.10427508642579134603413151009e2, 0, 0, 0, 0, 0.24228349177525818288430175319e3,
       0.16520045171727028198505394887e3, -0.37454675472269020279518312152e3,
       -0.22113666853125306036270938578e2, 0.77334326684722638389603898808e1,
       -0.30674084731089398182061213626e2, -0.93321305264302278729567221706e1,
       0.15697238121770843886131091075e2, -0.31139403219565177677282850411e2,
       -0.93529243588444783865713862664e1, 0.35816841486394083752465898540e2},
      {0.19985053242002433820987653617e2, 0, 0, 0, 0, -0.38703730874935176555105901742e3,
       -0.18917813819516756882830838328e3, 0.52780815920542364900561016686e3,
       -0.11573902539959630126141871134e2, 0.68812326946963000169666922661e1,
       -0.10006050966910838403183860980e1, 0.77771377980534432092869265740,
       -0.27782057523535084065932004339e1, -0.60196695231264120758267380846e2,
       0.84320405506677161018159903784e2, 0.11992291136182789328035130030e2},
      {-0.25693933462703749003312586129e2, 0, 0, 0, 0, -0.15418974869023643374053993627e3,
       -0.23152937917604549567536039109e3, 0.35763911791061412378285349910e3,
       0.93405324183624310003907691704e2, -0.37458323136451633156875139351e2,
       0.10409964950896230045147246184e3, 0.29840293426660503123344363579e2,
       -0.43533456590011143754432175058e2, 0.96324553959188282948394950600e2,
       -0.39177261675615439165231486172e2, -0.14972683625798562581422125276e3}};
  return table[m][j];
}

}  // namespace zwang::dop853
